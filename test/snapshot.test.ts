import t from 'tap';
import { sql } from '../services/eventstore/sql.ts';
import { snapshot } from '../services/postgres/snapshot.ts';
import { openPool, query } from '../services/postgres.ts';
import { testDatabase } from './harness/database.ts';

t.test(
  'reads of a snapshot are of one state, and those after it see what came since',
  async (t) => {
    const { url, pool: other } = await testDatabase(t);
    const pool = openPool(url, 'test', 1);
    t.teardown(() => pool.end());
    await other.query('CREATE TABLE things (value int); INSERT INTO things VALUES (1)');
    const read = sql`SELECT value FROM things`;
    const reading = snapshot(pool, [read, sql`SELECT pg_sleep(0.3)`, read]);
    const sleeping = `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    while ((await other.query(sleeping)).rowCount === 0);
    await other.query('UPDATE things SET value = 2');
    const [before, , after] = await reading;
    t.same([before, after], [[{ value: 1 }], [{ value: 1 }]]);
    t.same(await query(pool, read), [{ value: 2 }]);
  },
);

t.test('one that fails says so, and the pool goes on', async (t) => {
  const { url } = await testDatabase(t);
  const pool = openPool(url, 'test', 1);
  t.teardown(() => pool.end());
  await t.rejects(snapshot(pool, [sql`SELECT 1 / 0`, sql`SELECT 2`]), { code: '22012' });
  t.same(await snapshot(pool, [sql`SELECT 1 AS one`, sql`SELECT 2 AS two`]), [
    [{ one: 1 }],
    [{ two: 2 }],
  ]);
});
