import t from 'tap';
import { StorageUnavailable } from '../../platform/postgres/errors.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/reads.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';
import { whileWaitingForLock } from '../support/meanwhile.ts';

t.test('reads one state in a snapshot, and later changes after it', async (t) => {
  const { url, pool: other } = await testDatabase(t);
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  await other.query('CREATE TABLE things (value int); INSERT INTO things VALUES (1)');
  const read = sql`SELECT value FROM things`;
  const lock = sql`SELECT pg_advisory_xact_lock(1)`;
  const [before, , after] = await whileWaitingForLock(
    other,
    'SELECT pg_advisory_xact_lock(1)',
    () => snapshot(pool, [read, lock, read]),
    () => other.query('UPDATE things SET value = 2'),
  );
  t.same([before, after], [[{ value: 1 }], [{ value: 1 }]]);
  t.same(await query(pool, read), [{ value: 2 }]);
});

t.test('rejects a failed read and keeps the pool usable', async (t) => {
  const { url } = await testDatabase(t);
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  await t.rejects(snapshot(pool, [sql`SELECT 1 / 0`, sql`SELECT 2`]), { code: '22012' });
  t.same(await snapshot(pool, [sql`SELECT 1 AS one`, sql`SELECT 2 AS two`]), [
    [{ one: 1 }],
    [{ two: 2 }],
  ]);
});

t.test('retries a read cancelled by a replica once, then reports unavailability', async (t) => {
  const { url, pool: other } = await testDatabase(t);
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  // Session-level locks survive a rollback, so their number is the number of attempts.
  await other.query(`CREATE FUNCTION asked() RETURNS bigint LANGUAGE sql AS
      $$ SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() $$;
    CREATE FUNCTION yields(code text, times int) RETURNS bigint LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_lock(asked());
        IF asked() <= times THEN RAISE 'conflict with recovery' USING ERRCODE = code; END IF;
        RETURN asked();
      END $$`);
  const reads = [
    (statement: Sql<{ asked: number }>) => query(pool, statement),
    async (statement: Sql<{ asked: number }>) => (await snapshot(pool, [statement]))[0],
  ];
  for (const code of ['40001', '40P01'])
    for (const read of reads) {
      t.same(await read(sql`SELECT yields(${code}, 1) AS asked`), [{ asked: 2 }], code);
      await query(pool, sql`SELECT pg_advisory_unlock_all()`);
      const failed = await read(sql`SELECT yields(${code}, 9) AS asked`).catch((error) => error);
      t.ok(failed instanceof StorageUnavailable, code);
      t.same(await query(pool, sql`SELECT asked()`), [{ asked: 2 }], 'there is no third attempt');
      await query(pool, sql`SELECT pg_advisory_unlock_all()`);
    }
});
