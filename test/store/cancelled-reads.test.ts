import t from 'tap';
import { boundedReads } from '../../platform/postgres/bounded-reads.ts';
import { Overloaded } from '../../platform/postgres/errors.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';

const BOUNDS = { maxConcurrent: 2, waitMs: 60_000, statementMs: 60_000 };
const SLEEP = sql`SELECT pg_sleep(60)`;
const ONE = sql<{ one: number }>`SELECT 1 AS one`;
const present = new AbortController().signal;

async function setUp(t: Parameters<typeof testDatabase>[0], size = 4) {
  const { url, pool: observer } = await testDatabase(t);
  const pool = createPool(url, 'bounded', size);
  t.teardown(() => pool.end());
  const countSleeping = async () => {
    const { rows } = await observer.query(`SELECT count(*)::int AS sleeping FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'bounded' AND wait_event = 'PgSleep'`);
    return rows[0].sleeping;
  };
  return { pool, countSleeping };
}

t.test('cancels the statement of a caller who hangs up, and keeps the connection', async (t) => {
  const { pool, countSleeping } = await setUp(t);
  const read = boundedReads(pool, BOUNDS);
  const caller = new AbortController();
  const sleeping = read(SLEEP, caller.signal);
  while ((await countSleeping()) === 0);
  caller.abort();
  await t.rejects(sleeping, { message: /its caller is gone/ });
  t.equal(await countSleeping(), 0);
  t.same(await read(ONE, present), [{ one: 1 }]);
});

t.test('uses a share of the pool, and lets others wait their turn', async (t) => {
  const { pool, countSleeping } = await setUp(t);
  const read = boundedReads(pool, BOUNDS);
  const callers = Array.from({ length: 4 }, () => new AbortController());
  const reads = callers.map(({ signal }) => read(SLEEP, signal).catch((error: unknown) => error));
  while ((await countSleeping()) < 2);
  const others = Array.from({ length: 8 }, () => pool.query(ONE.text));
  t.equal((await Promise.all(others)).length, 8);
  t.equal(await countSleeping(), 2);
  const later = read(ONE, present);
  for (const caller of callers) caller.abort();
  for (const outcome of await Promise.all(reads)) t.ok(outcome instanceof Overloaded);
  t.same(await later, [{ one: 1 }], 'a turn follows');
});

t.test('refuses a statement that takes too long, and a wait that is too long', async (t) => {
  const { pool } = await setUp(t, 1);
  const read = boundedReads(pool, { maxConcurrent: 1, waitMs: 1, statementMs: 50 });
  const first = read(SLEEP, present);
  await t.rejects(read(ONE, present), { message: 'no turn in time' });
  await t.rejects(first, { message: /too long/ });
  t.same(await read(ONE, present), [{ one: 1 }]);
  const { rows } = await pool.query('SHOW statement_timeout');
  t.same(rows, [{ statement_timeout: '2500ms' }], 'the limit is not left on the connection');
});
