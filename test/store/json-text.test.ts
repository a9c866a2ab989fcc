import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { parseJson } from '../../platform/json.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { query } from '../../platform/postgres/query.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';

/** After parsing this text, V8 misreads names that begin with an escape as `\`. */
const POISON = '{"h":[],"\\\\":0}';

/** The text of an object whose second name is written as given. */
const withName = (written: string) => `{"h":1,${written}:2}`;

const NAMES = ['"\\""', '"\\n"', '"\\\\"', '"\\u0061"', '"\\t\\n"', '"a\\"b"', '"\\ud83d\\udc4b"'];

t.test('reads a name written with an escape', async (t) => {
  parseJson(POISON);
  for (const written of NAMES) {
    const name = JSON.parse(written) as string;
    t.same(Object.keys(parseJson(withName(written)) as object), ['h', name], written);
    t.same(parseJson(`[{"x":${withName(written)}}]`), [{ x: { h: 1, [name]: 2 } }]);
  }
  const spaced = parseJson('{ "h" : "\\":" , "\\n"\r\n\t : "\\"\\\\" , "2" : [ "\\"" ] }');
  t.same(Object.entries(spaced as object), [
    ['2', ['"']],
    ['h', '":'],
    ['\n', '"\\'],
  ]);
  t.throws(() => parseJson('{"\\n" 1}'), SyntaxError);
});

const awkward = fc.string({
  unit: fc.constantFrom('\\', '"', '\n', 'n', 'u', '1', ':', '~', '👋'),
  maxLength: 3,
});
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, awkward, fc.integer(), tie('list'), tie('record')),
  list: fc.array(tie('any'), { maxLength: 3 }),
  record: fc.dictionary(awkward, tie('any'), { maxKeys: 4, noNullPrototype: true }),
})).any;

t.test('reads back every value that it writes', async () => {
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (given, indent) => {
      const read = parseJson(JSON.stringify(given, null, indent));
      assert.deepStrictEqual(read, given);
      assert.equal(JSON.stringify(read), JSON.stringify(given));
    }),
    { numRuns: 5000 },
  );
});

t.test('returns JSON from the database unchanged', async (t) => {
  const { url } = await testDatabase(t);
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  parseJson(POISON);
  for (const written of NAMES) {
    const text = withName(written);
    const [row] = await query(pool, sql`SELECT ${text}::json AS plain, ${text}::jsonb AS binary`);
    const expected = { h: 1, [JSON.parse(written) as string]: 2 };
    t.same(row, { plain: expected, binary: expected }, written);
  }
});
