import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { Problem } from '../../../platform/http/problems.ts';
import { parseStrictJson } from '../../../platform/http/strict-json.ts';
import { readJson } from '../../support/json-oracle.ts';
import { tries } from '../../support/sequences.ts';

/** Throws unless the reader agrees with the specification on these bytes. */
function compare(bytes: Uint8Array): 'read' | 'refused' {
  const expected = readJson(bytes);
  let value: unknown;
  try {
    value = parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_json') throw error;
    if (expected) throw new Error(`refused (${error.details.message}), where it is right`);
    return 'refused';
  }
  if (!expected) throw new Error(`read as ${JSON.stringify(value)}, where it is to be refused`);
  deepStrictEqual(value, expected.value);
  return 'read';
}

const encode = (text: string) => new TextEncoder().encode(text);

const character = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'aé😀"\\/ \n\tz') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\\n',
      '\\t',
      '\\"',
      '\\\\',
      '\\/',
      '\\u0041',
      '\\ud83d\\ude00',
      '\\u000a',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\\u0000',
      '\\ud83d',
      '\\ude00\\ud83d',
      '\\u009f',
      '\u0085',
      '\\r',
      '\\b',
      '\\x',
      '\\u12',
    ),
  },
);
const string = fc
  .array(character, { maxLength: 5 })
  // Escaped, since a raw quotation mark or line feed would end or break the string.
  .map(
    (parts) =>
      `"${parts.map((part) => ({ '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t' })[part] ?? part).join('')}"`,
  );
const name = fc.oneof(
  string,
  fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"', '"__pro\\u0074o__"', '"constructor"'),
);
const number = fc.constantFrom(
  '0',
  '-0',
  '1',
  '1.50',
  '-2e3',
  '1E+2',
  '12345678901234567890',
  '01',
  '1.',
  '.5',
  '+1',
  '1e400',
  '-1e400',
  '1e-400',
  'NaN',
  '-',
);
const gap = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '\u00a0', '/**/');

const { value } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(string, number, fc.constantFrom('true', 'false', 'null', 'True', 'undefined')),
    tie('object'),
    tie('array'),
  ),
  object: fc
    .array(fc.tuple(gap, name, gap, tie('value'), gap), { maxLength: 4 })
    .map((members) => `{${members.map(([a, n, b, v, c]) => `${a}${n}${b}:${v}${c}`).join(',')}}`),
  array: fc
    .array(fc.tuple(gap, tie('value')), { maxLength: 3 })
    .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
}));
const document = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.tuple(name, value), { maxLength: 4 }).map(objectOf) },
  { weight: 1, arbitrary: value },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.integer({ min: 29, max: 34 }), fc.boolean())
      .map(([depth, object]) =>
        object
          ? `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
          : `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`,
      ),
  },
);

function objectOf(members: [string, string][]): string {
  return `{${members.map((member) => member.join(':')).join(',')}}`;
}

/** Damage to bytes: some are removed, repeated or replaced. */
const damage = fc.array(
  fc.record({
    at: fc.nat(200),
    drop: fc.nat(3),
    put: fc.oneof(
      fc
        .constantFrom('', '"', '{', '}', ',', ':', '\\', '\u0000', '\ufeff', '\u0001', '\u007f')
        .map(encode),
      fc.uint8Array({ maxLength: 3 }),
    ),
  }),
  { maxLength: 2 },
);

function damaged(
  text: string,
  wounds: { at: number; drop: number; put: Uint8Array }[],
): Uint8Array {
  let bytes = [...encode(text)];
  for (const { at, drop, put } of wounds) {
    const place = at % (bytes.length + 1);
    bytes = [...bytes.slice(0, place), ...put, ...bytes.slice(place + drop)];
  }
  return Uint8Array.from(bytes);
}

t.test('reads or refuses any JSON, whole or damaged, as specified', async (t) => {
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(document, damage, (text, wounds) => {
      seen[compare(damaged(text, wounds))]++;
    }),
    tries(4000),
  );
  t.ok(seen.read > 50 && seen.refused > 50, JSON.stringify(seen));
});

t.test('reads what JSON.stringify writes, except refused strings', async (t) => {
  let read = 0;
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string({ unit: 'binary' }),
        fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }),
      ),
      (value) => {
        if (compare(encode(JSON.stringify(value))) === 'read') read++;
      },
    ),
    tries(1000),
  );
  t.ok(read > 20, `${read} read`);
});

t.test('ends in a value or a refusal for any bytes', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void compare(bytes)),
    tries(2000),
  );
  t.pass();
});
