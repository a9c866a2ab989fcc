import t, { type Test } from 'tap';
import { defineRead, readsByKey } from '../../platform/postgres/batch-statements.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { mergedRead, readTogether } from '../../platform/postgres/read-together.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';

const findThing = defineRead<{ value: number }>(
  { id: 'text', over: 'int' },
  ({ id, over }) => `SELECT value FROM things WHERE id = ${id} AND value > ${over}`,
);
// Other files in this process look at the reads of the service, which has no such table.
readsByKey.pop();

async function createFinder(t: Test) {
  const { url } = await testDatabase(t);
  const pool = createPool(url, 'test', 10);
  t.teardown(() => pool.end());
  await pool.query('CREATE TABLE things (id text PRIMARY KEY, value int)');
  await pool.query(`INSERT INTO things SELECT 'id' || n, n FROM generate_series(1, 200) n`);
  const batches: (readonly string[])[] = [];
  const find = readTogether<{ id: string; value: number }>(
    pool,
    (ids) => {
      batches.push(ids);
      return sql`SELECT id, value, (SELECT pg_sleep(0.01)) FROM things WHERE id = ANY(${ids})`;
    },
    (row) => row.id,
  );
  return { pool, find, batches };
}

t.test('answers many concurrent lookups with few statements, each with its row', async (t) => {
  const { find, batches } = await createFinder(t);
  const ids = Array.from({ length: 200 }, (_, index) => `id${(index % 100) * 2 + 2}`);
  const rows = await Promise.all(ids.map((id) => find(id)));
  t.same(
    rows.map((row) => row && `id${row.value}`),
    ids,
  );
  t.ok(batches.length < 20, `${batches.length} statements`);
  t.equal(await find('unknown'), undefined);
});

t.test('sees a change in every lookup that starts after it', async (t) => {
  const { pool, find } = await createFinder(t);
  const before = Array.from({ length: 8 }, () => find('id1'));
  await new Promise((resolve) => setImmediate(resolve));
  await pool.query(`UPDATE things SET value = -1 WHERE id = 'id1'`);
  t.equal((await find('id1'))?.value, -1);
  await Promise.all(before);
});

t.test('fails all lookups that share a failed read, and none after it', async (t) => {
  const { pool, find } = await createFinder(t);
  await pool.query('ALTER TABLE things RENAME TO away');
  const failed = await Promise.allSettled([find('id1'), find('id2')]);
  t.same(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await pool.query('ALTER TABLE away RENAME TO things');
  t.equal((await find('id1'))?.value, 1);
});

t.test('gives each of many merged reads the row that it asks for, or none', async (t) => {
  const { pool } = await createFinder(t);
  const find = mergedRead<{ value: number }>(pool);
  const asked = Array.from({ length: 90 }, (_, turn) => ({
    id: `id${(turn % 70) + 1}`,
    over: turn % 3 === 0 ? 100 : 0,
  }));
  const found = () => Promise.all(asked.map((key) => find(findThing(key))));
  const values = asked.map(({ id, over }) => (over ? undefined : Number(id.slice(2))));
  for (const rows of [await found(), await found()])
    t.same(
      rows.map((row) => row?.value),
      values,
    );
  t.equal((await find(findThing({ id: 'id7', over: 0 })))?.value, 7);
  t.equal(await find(findThing({ id: 'id7', over: 7 })), undefined);
});
