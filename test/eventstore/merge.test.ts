import t from 'tap';
import { mergeLists } from '../../services/eventstore/merge.ts';
import { type Sql, sql, updateOf } from '../../services/eventstore/sql.ts';

const texts = (lists: Sql[][]) =>
  mergeLists(lists).map(({ text, values }) => [text.replace(/\s+/g, ' '), values]);

const insert = (a: number) => sql`INSERT INTO one (a, b) VALUES (${a}, now())`;
const upsert = (a: number) =>
  sql`INSERT INTO counts AS c (a, used) VALUES ((${a}::int), 1)
    ON CONFLICT (a) DO UPDATE SET used = c.used + 1`;
const bound = (a: number) =>
  sql`INSERT INTO one (a) VALUES (${a}) ON CONFLICT (a) DO UPDATE SET a = ${a + 1}`;
const update = (a: number) => sql`UPDATE one SET a = ${a}`;
const own = (a: number): Sql => ({
  ...sql`UPDATE two SET a = ${a}`,
  many: { text: (count) => `UPDATE two, ${count} at once` },
});

t.test('rows for one table go as one statement, and each list keeps its order', async (t) => {
  t.same(texts([[insert(1), update(2), insert(3)], [insert(4)]]), [
    ['INSERT INTO one (a, b) VALUES ($1, now()), ($2, now())', [1, 4]],
    ['UPDATE one SET a = $1', [2]],
    ['INSERT INTO one (a, b) VALUES ($1, now())', [3]],
  ]);
});

t.test('rows that may be there are merged, but none twice', async (t) => {
  const many =
    'INSERT INTO counts AS c (a, used) VALUES (($1::int), 1), (($2::int), 1) ON CONFLICT (a) DO UPDATE SET used = c.used + 1';
  const three = many.replace('(($2::int), 1)', '(($2::int), 1), (($3::int), 1)');
  t.same(texts([[upsert(1), upsert(2), upsert(1)], [upsert(2)], [upsert(3)]]), [
    [three, [1, 2, 3]],
    [many, [1, 2]],
  ]);
});

t.test(
  'few are one statement; of more there are few sizes, each prepared for itself',
  async (t) => {
    for (const [count, sizes] of [
      [7, [7]],
      [11, [8, 3]],
      [23, [16, 7]],
      [40, [16, 16, 8]],
    ] as const) {
      const lists = Array.from({ length: count }, (_, turn) => [insert(turn)]);
      t.same(
        mergeLists(lists).map(({ values }) => values.length),
        sizes,
      );
    }
  },
);

t.test('a row is known by all the values of its key, wherever they stand', async (t) => {
  const row = (day: string, a: number) =>
    sql`INSERT INTO days (used, a, day) VALUES (1, ${a}, (${day}::timestamptz)::date)
      ON CONFLICT (a, day) DO UPDATE SET used = days.used + 1`;
  t.equal(texts([[row('x', 1), row('y', 1)]]).length, 1);
  t.equal(texts([[row('x', 1), row('x', 1)]]).length, 2);
});

t.test('what has values behind its rows, or is no list of rows, stays as it is', async (t) => {
  t.equal(texts([[bound(1)], [bound(2)]]).length, 2);
  t.equal(texts([[update(1)], [update(2)]]).length, 2);
});

t.test('a statement may say itself how many of it are one', async (t) => {
  t.same(texts([[own(1), own(2)], [own(3)], [own(4)]]), [['UPDATE two, 4 at once', [1, 2, 3, 4]]]);
});

t.test('updates of rows by their key go as one, but none of a row twice', async (t) => {
  const row = (id: string, at: number) =>
    updateOf(id, ['int', 'uuid'], sql`UPDATE three SET at = ${at} WHERE id = ${id}`);
  const one = 'UPDATE three SET at = $1 WHERE id = $2';
  t.same(texts([[row('a', 1), row('b', 2), row('a', 3)]]), [
    [
      'UPDATE three SET at = given.v1 FROM (VALUES ($1::int, $2::uuid), ($3::int, $4::uuid)) given (v1, v2) WHERE id = given.v2',
      [1, 'a', 2, 'b'],
    ],
    [one, [3, 'a']],
  ]);
});
