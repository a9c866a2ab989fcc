import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import t from 'tap';
import { createLogFollower } from '../../platform/eventstore/subscription.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { testDatabase } from '../support/database.ts';
import { recordStatements } from '../support/statements.ts';
import { startSuiteDatabase } from '../support/suite-database.ts';

// A follower waits for open transactions of every database on its server, also those of other
// tests. So this file has a server of its own.
const server = await startSuiteDatabase(undefined);
process.env.TEST_DATABASE_URL = server.url;
t.teardown(server.stop);

type Ending = Parameters<typeof testDatabase>[0];
type Pool = Awaited<ReturnType<typeof testDatabase>>['pool'];

const INSERT = `INSERT INTO events
  (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
  VALUES ($1::uuid, 'one-' || $1::uuid, 1, gen_random_uuid(), 'One', '{}', '{"type":"service"}', now())
  RETURNING position`;

async function insertEvent(client: pg.Pool | pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ position: string }>(INSERT, [randomUUID()]);
  return Number(rows[0]?.position);
}

/** Begins a transaction as a command does: it takes its id before it draws a position. */
async function beginCommand(t: Ending, pool: Pool) {
  const client = await pool.connect();
  t.teardown(async () => client.release(true));
  await client.query('BEGIN');
  await client.query('SELECT pg_current_xact_id()');
  return {
    append: () => insertEvent(client),
    end: (how: 'COMMIT' | 'ROLLBACK') => client.query(how),
  };
}

function servicePool(t: Ending, url: string): pg.Pool {
  const pool = createPool(url, 'service test', 2);
  t.teardown(() => pool.end());
  return pool;
}

async function newFollower(t: Ending) {
  const { pool, url } = await testDatabase(t);
  const follower = createLogFollower(servicePool(t, url));
  const positions = async () => (await follower.read()).map(({ position }) => position);
  return { pool, follower, positions };
}

t.test('delivers each event once, and none from before it was opened', async (t) => {
  const { pool, follower, positions } = await newFollower(t);
  await insertEvent(pool);
  t.same(await positions(), []);
  const two = [await insertEvent(pool), await insertEvent(pool)];
  t.same(await positions(), two);
  t.same(await positions(), []);
  t.equal(follower.settled(), two[1]);
});

t.test('delivers an event whose transaction stays open for a long time', async (t) => {
  const { pool, follower, positions } = await newFollower(t);
  await positions();
  const slow = await beginCommand(t, pool);
  const late = await slow.append();
  const early = await insertEvent(pool);
  t.same(await positions(), [early]);
  t.equal(follower.settled(), late - 1, 'a consumer resumes before the open transaction');
  // More events follow than one read looks back, and more time passes than any timeout.
  await pool.query(`INSERT INTO events
    (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
    SELECT gen_random_uuid(), 'many', 1, gen_random_uuid(), 'One', '{}', '{"type":"service"}', now()
    FROM generate_series(1, 2500)`);
  passTime(t, 60_000);
  t.equal((await positions()).length, 2500);
  await positions();
  await slow.end('COMMIT');
  t.same(await positions(), [late]);
  t.equal(follower.settled(), early + 2500);
  t.same(await positions(), []);
});

t.test('delivers an event of a transaction that is newer than all completed ones', async (t) => {
  const { pool, positions } = await newFollower(t);
  await positions();
  const older = await beginCommand(t, pool);
  const newer = await beginCommand(t, pool);
  const late = await newer.append();
  const early = await older.append();
  await older.end('COMMIT');
  // The xmax of this read is the id of the newer transaction, and so is its xmin.
  t.same(await positions(), [early]);
  t.same(await positions(), []);
  await newer.end('COMMIT');
  t.same(await positions(), [late]);
});

t.test('does not wait for a transaction that was rolled back', async (t) => {
  const { pool, follower, positions } = await newFollower(t);
  await positions();
  const lost = await beginCommand(t, pool);
  await lost.append();
  const between = await insertEvent(pool);
  await lost.append();
  await lost.end('ROLLBACK');
  const newest = await insertEvent(pool);
  t.same(await positions(), [between, newest]);
  t.equal(follower.settled(), newest);
});

t.test('keeps the rest of a gap when one of its events appears', async (t) => {
  const { pool, follower, positions } = await newFollower(t);
  await positions();
  const [first, second, third] = [
    await beginCommand(t, pool),
    await beginCommand(t, pool),
    await beginCommand(t, pool),
  ] as const;
  const [left, middle, right] = [await first.append(), await second.append(), await third.append()];
  const newest = await insertEvent(pool);
  t.same(await positions(), [newest]);
  await second.end('COMMIT');
  t.same(await positions(), [middle]);
  t.equal(follower.settled(), left - 1);
  await first.end('ROLLBACK');
  t.same(await positions(), []);
  await third.end('COMMIT');
  t.same(await positions(), [right]);
  t.equal(follower.settled(), newest);
});

t.test('an event of a transaction that was open at the start is not lost', async (t) => {
  const { pool, positions } = await newFollower(t);
  const slow = await beginCommand(t, pool);
  const late = await slow.append();
  await insertEvent(pool);
  // The follower waits for the transaction for a second, then begins further back.
  t.same(await positions(), []);
  await slow.end('COMMIT');
  t.same(await positions(), [late]);
});

t.test('begins after the transactions that were open at the start', async (t) => {
  const { pool, follower, positions } = await newFollower(t);
  const slow = await beginCommand(t, pool);
  const late = await slow.append();
  await pool.query(`INSERT INTO events
    (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
    SELECT gen_random_uuid(), 'many', 1, gen_random_uuid(), 'One', '{}', '{"type":"service"}', now()
    FROM generate_series(1, 1000)`);
  const resume = stopTime(t);
  const opened = positions();
  setTimeout(() => void slow.end('COMMIT'), 100);
  t.same(await opened, []);
  resume();
  t.equal(follower.settled(), late + 1000, 'no gap is left to watch');
  const next = await insertEvent(pool);
  t.same(await positions(), [next]);
});

t.test('reads a range that holds no events in a few statements', async (t) => {
  const { pool, follower, positions } = await newFollower(t);
  await positions();
  await pool.query('SELECT setval($1, 500000000)', ['events_position_seq']);
  const far = [await insertEvent(pool), await insertEvent(pool)];
  const statements = recordStatements(t);
  t.same(await positions(), far);
  const count = [...statements.values()].reduce((sum, { times }) => sum + times, 0);
  t.ok(count < 30, `${count} statements`);
  t.equal(follower.settled(), far[1]);
});

/** Stops the process's clock, so that no wait comes to its end, until the returned function runs. */
function stopTime(t: Ending): () => void {
  const { now } = performance;
  const time = performance.now();
  performance.now = () => time;
  const resume = () => {
    performance.now = now;
  };
  t.teardown(async () => resume());
  return resume;
}

/** Moves the process's clock forward. */
function passTime(t: Ending, ms: number): void {
  const { now } = performance;
  performance.now = () => now.call(performance) + ms;
  t.teardown(async () => {
    performance.now = now;
  });
}
