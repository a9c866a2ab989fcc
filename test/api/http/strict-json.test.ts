import fc from 'fast-check';
import t from 'tap';
import { Problem } from '../../../platform/http/problems.ts';
import { parseStrictJson } from '../../../platform/http/strict-json.ts';

const parse = (text: string | Uint8Array) =>
  parseStrictJson(typeof text === 'string' ? new TextEncoder().encode(text) : text);

t.test('reads a plain object unchanged', async (t) => {
  t.same(parse('{"a":"ä\\n\\t👋","b":[1,null,true,{"a":{}}]}'), {
    a: 'ä\n\t👋',
    b: [1, null, true, { a: {} }],
  });
  t.same(parse('{"a":{"x":1},"b":{"x":1},"c":["a","a:","\\""]}').c, ['a', 'a:', '"']);
});

t.test('refuses everything but one plain object', async (t) => {
  for (const text of [
    '',
    '[]',
    '"text"',
    'null',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"b":[{"a":1,"a":2}]}',
    '{"__proto__":{}}',
    '{"a":{"__proto__":1}}',
    '\ufeff{}',
    '{"a":"\\u0000"}',
    '{"a":"\\u000d"}',
    '{"\\u0007":1}',
    '{"a":"\\ud800"}',
    '{"a":1e400}',
    '{"a":1} {}',
    "{'a':1}",
    `{"a":${'['.repeat(32)}${']'.repeat(32)}}`,
  ])
    t.throws(() => parse(text), { code: 'invalid_json' }, text.slice(0, 40));
  t.throws(() => parse(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), {
    code: 'invalid_json',
  });
  t.doesNotThrow(() => parse(`{"a":${'['.repeat(31)}${']'.repeat(31)}}`));
});

t.test('refuses a body with too many values before it makes any', async (t) => {
  const list = (item: string, count: number) => `{"a":[${Array(count).fill(item).join()}]}`;
  const refusal = (text: string, most?: number) => {
    try {
      return parseStrictJson(new TextEncoder().encode(text), most);
    } catch (error) {
      return (error as Problem).details.message;
    }
  };
  t.equal((parse(list('1', 4094)).a as number[]).length, 4094);
  for (const item of ['1', '{}', '[]', '""'])
    t.match(refusal(list(item, 4096)), /more than 4096 values/, item);
  t.match(refusal('{"a":[1,2,3]}', 3), /more than 3 values/);
  t.match(refusal('[{},'.repeat(5000)), /nested deeper/, 'also of a text that is no JSON');
});

t.test('reads what JSON.parse reads, and refuses the rest as a problem', async (t) => {
  const words = fc.array(
    fc.constantFrom('{', '}', '[', ']', ':', ',', '"a"', '"b"', '"__proto__"', '1', '"\\""', ' '),
    { maxLength: 14 },
  );
  fc.assert(
    fc.property(words, (parts) => {
      const text = `{${parts.join('')}}`;
      try {
        const value = parse(text);
        return JSON.stringify(value) === JSON.stringify(JSON.parse(text));
      } catch (error) {
        return error instanceof Problem;
      }
    }),
    { numRuns: 3000 },
  );
  t.pass('three thousand texts agree');
});
