/** A value in the browser's storage: texts and note ids, never a key. Without storage it is none. */
export function readKept<Value>(name: string): Value | undefined {
  try {
    const text = localStorage.getItem(`guestbook.${name}`);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(`guestbook.${name}`);
    else localStorage.setItem(`guestbook.${name}`, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the page works on, and forgets when it is closed.
  }
}
