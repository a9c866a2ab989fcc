/** `localStorage`: all tabs; `sessionStorage`: this tab only, until it closes. */
type Area = 'localStorage' | 'sessionStorage';

/** Values that the storage rejected (full or forbidden); lost when the page closes. */
const unsaved = new Map<string, unknown>();

/** Reads a value from browser storage. Only texts, note ids and times are stored, never keys. */
export function readLocalData<Value>(name: string, area: Area = 'localStorage'): Value | undefined {
  if (unsaved.has(`${area} ${name}`)) return unsaved.get(`${area} ${name}`) as Value;
  try {
    const text = window[area].getItem(`guestbook.${name}`);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

/** Stores a value, or removes it if undefined. If storage fails, the value stays in memory. */
export function saveLocalData(name: string, value: unknown, area: Area = 'localStorage'): void {
  unsaved.delete(`${area} ${name}`);
  try {
    if (value === undefined) window[area].removeItem(`guestbook.${name}`);
    else window[area].setItem(`guestbook.${name}`, JSON.stringify(value));
  } catch {
    if (value !== undefined) unsaved.set(`${area} ${name}`, value);
  }
}

/** The names of all values in a storage. */
export function localDataNames(area: Area): string[] {
  const unsavedNames = [...unsaved.keys()]
    .filter((key) => key.startsWith(`${area} `))
    .map((key) => key.slice(area.length + 1));
  try {
    const stored = Object.keys(window[area]).filter((key) => key.startsWith('guestbook.'));
    return [...unsavedNames, ...stored.map((key) => key.slice('guestbook.'.length))];
  } catch {
    return unsavedNames;
  }
}
