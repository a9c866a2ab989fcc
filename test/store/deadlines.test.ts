import t from 'tap';
import { backendPid } from '../../platform/postgres/connection.ts';
import { createPool, whileCommitting, withClient } from '../../platform/postgres/pool.ts';
import { query } from '../../platform/postgres/query.ts';
import { withDeadline } from '../../platform/postgres/request-deadline.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';

const ONE = sql<{ one: number }>`SELECT 1 AS one`;
const SLEEP = sql`SELECT pg_sleep(30)`;
const soon = () => performance.now() + 300;

async function openPool(t: Parameters<typeof testDatabase>[0]) {
  const { url, pool: observer } = await testDatabase(t);
  const pool = createPool(url, 'deadlines', 1);
  t.teardown(() => pool.end());
  await query(pool, ONE);
  const pidOf = () =>
    withClient(pool, performance.now() + 10_000, async (client) => backendPid(client));
  const countRunning = async () =>
    (
      await observer.query(`SELECT count(*)::int AS running FROM pg_stat_activity
        WHERE application_name = 'deadlines' AND datname = current_database() AND state = 'active'`)
    ).rows[0].running;
  return { pool, observer, pidOf, countRunning };
}

const MAX_TURNS = 20;

/**
 * Runs `work` until it fails without the loss of its connection, and returns its error. Where the server is so busy that
 * a cancellation comes late, the connection is rightly cut.
 */
async function untilKept(pidOf: () => Promise<number>, work: () => Promise<unknown>) {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const pid = await pidOf();
    const error = await work().then(
      () => undefined,
      (caught: unknown) => caught,
    );
    if ((await pidOf()) === pid) return error;
  }
  throw new Error('the connection was cut each time');
}

t.test('keeps the connection of a read that its deadline ends', async (t) => {
  const { pool, pidOf, countRunning } = await openPool(t);
  for (let turn = 0; turn < 3; turn++) {
    const read = () => withDeadline(() => query(pool, SLEEP), soon());
    t.match(await untilKept(pidOf, read), { message: 'read failed' });
  }
  t.equal(await countRunning(), 0, 'the statement has ended');
  t.same(await query(pool, ONE), [{ one: 1 }]);
});

t.test(
  'keeps the connection of a transaction that waits for a lock until its deadline',
  async (t) => {
    const { pool, observer, pidOf } = await openPool(t);
    const holder = await observer.connect();
    t.teardown(() => holder.release(true));
    await holder.query('BEGIN; LOCK TABLE notes');
    const wait = () =>
      withClient(pool, soon(), async (client) => {
        try {
          await client.query('BEGIN');
          await client.query('LOCK TABLE notes');
        } finally {
          await client.query('ROLLBACK');
        }
      });
    t.match(await untilKept(pidOf, wait), { code: '57014' });
  },
);

t.test('cuts a connection that does not end in time, and never cancels a COMMIT', async (t) => {
  const { pool, pidOf } = await openPool(t);
  const pid = await pidOf();
  const committing = withClient(pool, soon(), (client) =>
    whileCommitting(client, () => client.query(SLEEP.text)),
  );
  await t.rejects(committing, { message: /terminated/ });
  const next = await pidOf();
  t.not(next, pid, 'a new connection');

  const stubborn = withClient(pool, soon(), (client) =>
    client.query(`DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(30);
      EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$`),
  );
  await t.rejects(stubborn, { message: /terminated/ });
  t.not(await pidOf(), next, 'a new connection');
});

t.test('discards a connection whose work ends without the cancellation', async (t) => {
  const { pool, pidOf } = await openPool(t);
  const pid = await pidOf();
  // The statement ends before the deadline also on a busy machine.
  const until = performance.now() + 3000;
  await withClient(pool, until, async (client) => {
    await client.query('SELECT 1');
    // Ends after the deadline, between two statements.
    while (performance.now() < until + 50) await new Promise((resolve) => setTimeout(resolve, 10));
  });
  t.not(await pidOf(), pid, 'the cancellation could end the next statement');
});
