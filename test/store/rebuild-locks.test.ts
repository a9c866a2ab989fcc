import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import t from 'tap';
import { readModels } from '../../harness/rebuilt.ts';
import { signedIn } from '../../harness/registration.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { whileWaitingForLock } from '../support/meanwhile.ts';
import { startService } from '../support/service.ts';
import { recordStatements } from '../support/statements.ts';

/** After so many, the pauses between two attempts to take the locks have their full length. */
const ATTEMPTS = 7;

/** The number of table locks that connections to the database wait for. */
async function lockWaits(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `SELECT FROM pg_locks WHERE NOT granted AND locktype = 'relation'
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rowCount ?? 0;
}

/** When connections to the database began to wait for table locks, in milliseconds. */
async function waitStarts(pool: pg.Pool): Promise<number[]> {
  const { rows } = await pool.query<{ start: string }>(
    `SELECT 1000 * extract(epoch FROM waitstart) AS start FROM pg_locks
     WHERE NOT granted AND locktype = 'relation' AND waitstart IS NOT NULL
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows.map(({ start }) => Number(start));
}

t.test('waits for a VACUUM of the log while members keep writing', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  await signedIn(service);
  const reported: (readonly number[])[] = [];
  const waits = (pids: readonly number[]) => reported.push(pids);
  const { events } = await whileWaitingForLock(
    pool,
    'LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE',
    () => rebuild(url, catalogue, projections, { waits }),
    async () => {
      while (reported.length === 0) await sleep(10);
      const { rows } = await pool.query(
        `SELECT array_agg(DISTINCT pid) AS pids FROM pg_locks
         WHERE mode = 'ShareUpdateExclusiveLock' AND relation = 'events'::regclass
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      t.same(reported, [rows[0].pids], 'reports the session that it waits for');
      for (let turn = 0; turn < 10; turn++) await signedIn(service);
    },
  );
  t.equal(reported.length, 1, 'reports it once');
  const { rows } = await pool.query('SELECT count(*)::int FROM events');
  t.equal(events, rows[0].count);
  const rebuilt = await readModels(pool);
  t.equal(rebuilt.members?.length, 11);
});

t.test('waits for an open writer and delays no other', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  await signedIn(service);
  const writer = await pool.connect();
  await writer.query('BEGIN');
  await writer.query('LOCK TABLE events IN ROW EXCLUSIVE MODE');
  const reported = Promise.withResolvers<readonly number[]>();
  const rebuilt = rebuild(url, catalogue, projections, { waits: reported.resolve });
  const { rows } = await writer.query('SELECT pg_backend_pid() AS pid');
  t.same(await reported.promise, [rows[0].pid]);
  t.equal(await lockWaits(pool), 0);
  await signedIn(service);
  await writer.query('COMMIT');
  writer.release();
  const { rows: log } = await pool.query('SELECT count(*)::int FROM events');
  t.equal((await rebuilt).events, log[0].count);
});

t.test('rarely delays other sessions while it waits for a backup', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  await signedIn(service);
  const statements = recordStatements(t);
  const starts = new Set<number>();
  await whileWaitingForLock(
    pool,
    'LOCK TABLE feed IN ACCESS SHARE MODE',
    () => rebuild(url, catalogue, projections),
    async () => {
      // The first attempts follow closely, because most locks are released soon.
      while (starts.size < ATTEMPTS) {
        for (const start of await waitStarts(pool)) starts.add(start);
        await sleep(5);
      }
    },
  );
  const timeouts = [...statements.keys()].flatMap((text) =>
    [...text.matchAll(/'lock_timeout', '(\d+)ms', true/g)].map(([, ms]) => Number(ms)),
  );
  t.equal(timeouts.length, 1, 'each attempt waits equally long');
  // By the server's clock, which a busy machine can only make longer.
  const [before = 0, last = 0] = [...starts].slice(-2);
  const share = Number(timeouts[0]) / (last - before);
  t.ok(share < 0.25, `in the end, it waits for ${Math.round(100 * share)} % of the time`);
});
