/** Texts of a given length in characters that are expensive for a careless reader. */
export const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  'one long word': (length) => 'x'.repeat(length),
  words: (length) => repeated('the ', length),
  phrases: (length) => repeated('"the the" ', length),
  quotes: (length) => repeated('"', length),
  blanks: (length) => ' '.repeat(length),
  'line breaks': (length) => '\n'.repeat(length),
  'combining characters': (length) => `a${'\u0301'.repeat(length - 1)}`,
  emoji: (length) => repeated('👩‍👩‍👧‍👦', length),
  'invisible characters': (length) => '\u200b'.repeat(length),
  dots: (length) => repeated('a.', length),
  'steps of a path': (length) => repeated('../', length),
  hyphens: (length) => `https://${'-'.repeat(length - 8)}`,
  labels: (length) => `https://${repeated('a.', length - 8)}`,
  percents: (length) => `https://a/${repeated('%', length - 10)}`,
  digits: (length) => '1'.repeat(length),
  escapes: (length) => '\\'.repeat(length),
  mentions: (length) => repeated('@a ', length),
  separators: (length) => repeated('.-_', length),
};

const repeated = (part: string, length: number): string =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);

/** A body of one string, with which the others are compared. */
export const plainBody = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;

const list = (item: string, bytes: number): string => `[${filled(item, bytes - 2)}]`;

const filled = (item: string, bytes: number): string =>
  Array(Math.max(1, Math.floor(bytes / (item.length + 1))))
    .fill(item)
    .join(',');

function members(bytes: number, name: (index: number) => string, value: string): string {
  const parts: string[] = [];
  for (let size = 2, index = 0; ; index++) {
    const part = `"${name(index)}":${value}`;
    size += part.length + 1;
    if (size > bytes) break;
    parts.push(part);
  }
  return `{${parts.join()}}`;
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const nestedObjects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/**
 * JSON values of a given size in bytes that are expensive for a careless reader. `count` is how many
 * values a body may have.
 */
export const VALUES: Readonly<Record<string, (bytes: number, count: number) => string>> = {
  'empty objects': (bytes) => list('{}', bytes),
  'empty arrays': (bytes) => list('[]', bytes),
  'empty strings': (bytes) => list('""', bytes),
  numbers: (bytes) => list('1', bytes),
  'a number with many digits': (bytes) => '1'.repeat(bytes),
  'a small number with many digits': (bytes) => `0.${'0'.repeat(bytes - 4)}1`,
  'deep arrays': (bytes) => nested(Math.floor(bytes / 2)),
  'many deep arrays': (bytes) => list(nested(28), bytes),
  'many deep objects': (bytes) => list(nestedObjects(27), bytes),
  'many members': (bytes) => members(bytes, (index) => index.toString(36), '1'),
  'many escaped names': (bytes) => members(bytes, (index) => `\\u0061${index.toString(36)}`, '1'),
  'one long name': (bytes) => `{"${'x'.repeat(bytes - 8)}":1}`,
  'equal long names': (bytes) => `{${filled(`"${'x'.repeat(90)}":1`, bytes)}}`,
  'spaces around values': (bytes) => `[1${' '.repeat(bytes - 4)},2]`,
  'long gaps after strings': (bytes) => list(`"x"${' '.repeat(200)}`, bytes),
  ...most(),
};

/** Those that have as many values as a body may have, and are as long as it may be. */
export const FEW_VALUES = most();

function most(): Record<string, (bytes: number, count: number) => string> {
  const share = (bytes: number, count: number) => Math.floor(bytes / count) - 2;
  return {
    'most objects': (bytes, count) => list('{}', Math.min(bytes, 3 * (count / 2 - 20))),
    'most deep objects': (bytes, count) =>
      list(nestedObjects(20), Math.min(bytes, 122 * (count / 22))),
    'most texts': (bytes, count) => list(`"${'y'.repeat(share(bytes, count))}"`, bytes - count),
    'most members': (bytes, count) =>
      members(
        Math.min(bytes, 60 * (count - 30)),
        (index) => `${'x'.repeat(48)}${index.toString(36).padStart(4, '0')}`,
        '{}',
      ),
    'most escaped names': (bytes, count) =>
      members(
        Math.min(bytes, 60 * (count - 30)),
        (index) => `\\\\${'\\u0061'.repeat(7)}${index.toString(36).padStart(6, '0')}`,
        '1',
      ),
  };
}

/** The path of each value inside a JSON value that a worse one can replace. */
export function placesIn(value: unknown, path: readonly string[] = []): string[][] {
  const here = path.length > 0 ? [[...path]] : [];
  if (typeof value !== 'object' || value === null) return here;
  return [
    ...here,
    ...Object.entries(value).flatMap(([name, item]) => placesIn(item, [...path, name])),
  ];
}

/** The JSON of a value in which `text`, which is JSON already, replaces what is at the path. */
export function replaced(value: unknown, [name, ...rest]: readonly string[], text: string): string {
  if (name === undefined) return text;
  const items = Object.entries(value as object).map(([key, item]) => [
    key,
    key === name ? replaced(item, rest, text) : JSON.stringify(item),
  ]);
  return Array.isArray(value)
    ? `[${items.map(([, item]) => item).join()}]`
    : `{${items.map(([key, item]) => `${JSON.stringify(key)}:${item}`).join()}}`;
}
