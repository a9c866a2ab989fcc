import t from 'tap';
import { mergeLists } from '../../services/eventstore/merge.ts';
import { type Sql, sql } from '../../services/eventstore/sql.ts';

const texts = (lists: Sql[][]) =>
  mergeLists(lists).map(({ statement: { text, values } }) => [text.replace(/\s+/g, ' '), values]);

const insert = (a: number) => sql`INSERT INTO one (a, b) VALUES (${a}, now())`;
const upsert = (a: number) =>
  sql`INSERT INTO counts AS c (a, used) VALUES ((${a}::int), 1)
    ON CONFLICT (a) DO UPDATE SET used = c.used + 1`;
const bound = (a: number) =>
  sql`INSERT INTO one (a) VALUES (${a}) ON CONFLICT (a) DO UPDATE SET a = ${a + 1}`;
const update = (a: number) => sql`UPDATE one SET a = ${a}`;
const own = (a: number): Sql => ({
  ...sql`UPDATE two SET a = ${a}`,
  many: (count) => `UPDATE two, ${count} at once`,
});

t.test('rows for one table go as one statement, and each list keeps its order', async (t) => {
  t.same(texts([[insert(1), update(2), insert(3)], [insert(4)]]), [
    ['INSERT INTO one (a, b) VALUES ($1, now()), ($2, now())', [1, 4]],
    ['UPDATE one SET a = $1', [2]],
    ['INSERT INTO one (a, b) VALUES ($1, now())', [3]],
  ]);
});

t.test('rows that may be there are merged across lists, never within one', async (t) => {
  const many =
    'INSERT INTO counts AS c (a, used) VALUES (($1::int), 1), (($2::int), 1) ON CONFLICT (a) DO UPDATE SET used = c.used + 1';
  t.same(texts([[upsert(1), upsert(1)], [upsert(2)]]), [
    [many, [1, 2]],
    [many.replace(', (($2::int), 1)', ''), [1]],
  ]);
});

t.test('what has values behind its rows, or is no list of rows, stays as it is', async (t) => {
  t.equal(texts([[bound(1)], [bound(2)]]).length, 2);
  t.equal(texts([[update(1)], [update(2)]]).length, 2);
});

t.test('a statement may say itself how many of it are one', async (t) => {
  t.same(texts([[own(1), own(2)], [own(3)], [own(4)]]), [['UPDATE two, 4 at once', [1, 2, 3, 4]]]);
});
