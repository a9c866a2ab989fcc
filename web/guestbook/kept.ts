/** `localStorage`: all tabs; `sessionStorage`: this tab only, until it closes. */
type Area = 'localStorage' | 'sessionStorage';

/** Values that the storage rejected (full or forbidden); lost when the page closes. */
const untaken = new Map<string, unknown>();

/** Reads a value from browser storage. Only texts, note ids and times are stored, never keys. */
export function readKept<Value>(name: string, area: Area = 'localStorage'): Value | undefined {
  if (untaken.has(`${area} ${name}`)) return untaken.get(`${area} ${name}`) as Value;
  try {
    const text = window[area].getItem(`guestbook.${name}`);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

/** Stores a value, or removes it if undefined. If storage fails, the value stays in memory. */
export function keep(name: string, value: unknown, area: Area = 'localStorage'): void {
  untaken.delete(`${area} ${name}`);
  try {
    if (value === undefined) window[area].removeItem(`guestbook.${name}`);
    else window[area].setItem(`guestbook.${name}`, JSON.stringify(value));
  } catch {
    if (value !== undefined) untaken.set(`${area} ${name}`, value);
  }
}
