/** Of the browser, or of this tab alone until it is closed. */
type Area = 'localStorage' | 'sessionStorage';

/** What the storage did not take: it is full or forbidden. The page forgets it when it is closed. */
const untaken = new Map<string, unknown>();

/** A value in the browser's storage: texts and note ids, never a key. */
export function readKept<Value>(name: string, area: Area = 'localStorage'): Value | undefined {
  if (untaken.has(`${area} ${name}`)) return untaken.get(`${area} ${name}`) as Value;
  try {
    const text = window[area].getItem(`guestbook.${name}`);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: unknown, area: Area = 'localStorage'): void {
  untaken.delete(`${area} ${name}`);
  try {
    if (value === undefined) window[area].removeItem(`guestbook.${name}`);
    else window[area].setItem(`guestbook.${name}`, JSON.stringify(value));
  } catch {
    if (value !== undefined) untaken.set(`${area} ${name}`, value);
  }
}
