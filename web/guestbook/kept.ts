/** Of the browser, or of this tab alone until it is closed. */
type Area = 'localStorage' | 'sessionStorage';

/** A value in the browser's storage: texts and note ids, never a key. Without storage it is none. */
export function readKept<Value>(name: string, area: Area = 'localStorage'): Value | undefined {
  try {
    const text = window[area].getItem(`guestbook.${name}`);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: unknown, area: Area = 'localStorage'): void {
  try {
    if (value === undefined) window[area].removeItem(`guestbook.${name}`);
    else window[area].setItem(`guestbook.${name}`, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the page works on, and forgets when it is closed.
  }
}
