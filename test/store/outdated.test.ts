import t, { type Test } from 'tap';
import { createPool } from '../../platform/postgres/pool.ts';
import { query } from '../../platform/postgres/query.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';

const SIZE = 3;
const all = () => sql`SELECT *, pg_sleep(0.1)::text AS slept FROM things`;

/** A pool whose connections have all prepared a statement before its table was altered. */
async function createOutdatedPool(t: Test) {
  const { url, pool: other } = await testDatabase(t);
  await other.query('CREATE TABLE things AS SELECT 1 AS one');
  const pool = createPool(url, 'test', SIZE);
  t.teardown(() => pool.end());
  const opened = { times: 0 };
  pool.on('connect', () => opened.times++);
  await Promise.all(Array.from({ length: SIZE }, () => query(pool, all())));
  t.equal(opened.times, SIZE);
  await other.query('ALTER TABLE things ADD COLUMN two int DEFAULT 2');
  return { pool, opened };
}

t.test('reads after a migration although all connections prepared the statement', async (t) => {
  const { pool } = await createOutdatedPool(t);
  for (let turn = 0; turn < SIZE; turn++)
    t.same(await query(pool, all()), [{ one: 1, two: 2, slept: '' }]);
});

t.test('fails an unsupported statement on a new connection', async (t) => {
  const { pool, opened } = await createOutdatedPool(t);
  const unsupported = sql`SELECT one FROM things GROUP BY one FOR UPDATE`;
  await t.rejects(query(pool, unsupported), { code: '0A000', message: /FOR UPDATE/ });
  t.equal(opened.times, SIZE + 1);
  await t.rejects(query(pool, unsupported), { code: '0A000', message: /FOR UPDATE/ });
  t.equal(opened.times, SIZE + 2, 'one more attempt');
});
