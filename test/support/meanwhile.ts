import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { backendPid } from '../../platform/postgres/connection.ts';

/** A minute, in which a process can also start. */
const MAX_TURNS = 6000;

/** Holds a lock until a request waits for it, runs `action`, and returns the request's response. */
export async function whileWaitingForLock<Answer>(
  pool: pg.Pool,
  lock: string,
  request: () => Promise<Answer>,
  action: () => Promise<unknown>,
): Promise<Answer> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(lock);
    const answer = request();
    for (let turn = 0; !(await isWaitedFor(pool, client)); turn++) {
      if (turn === MAX_TURNS) throw new Error('no request waits for the lock');
      await sleep(10);
    }
    await action();
    await client.query('COMMIT');
    return await answer;
  } finally {
    client.release(true);
  }
}

/** Whether a connection waits for a lock of `client`: other lock waits, of a moment, do not count. */
async function isWaitedFor(pool: pg.Pool, client: pg.PoolClient): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND $1 = ANY (pg_blocking_pids(pid))`,
    [backendPid(client)],
  );
  return rowCount !== 0;
}

/**
 * Makes inserts into `table` wait as soon as there are `count` rows of `counted`, so that their process can be killed in
 * the middle of its work, at any speed. `release` lets them go on, and resolves when that transaction has ended.
 */
export const holdInserts = (pool: pg.Pool, table: string, counted: string, count: number) =>
  holdWrites(pool, `INSERT ON ${table}`, `(SELECT count(*) FROM ${counted}) >= ${count}`);

/** As `holdInserts`, for deletes, as soon as `table` has at most `left` rows. */
export const holdDeletes = (pool: pg.Pool, table: string, left: number) =>
  holdWrites(pool, `DELETE ON ${table}`, `(SELECT count(*) FROM ${table}) <= ${left}`);

const holdWrites = (pool: pg.Pool, write: string, condition: string) =>
  hold(
    pool,
    `RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF ${condition} THEN PERFORM pg_advisory_xact_lock(7, 7); END IF; RETURN NULL; END $$`,
    `TRIGGER hold BEFORE ${write} FOR EACH STATEMENT`,
  );

/** As `holdInserts`, for each `CREATE INDEX`; `release` does not wait for its transaction. */
export const holdIndexes = (pool: pg.Pool) =>
  hold(
    pool,
    'RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(7, 7); END $$',
    `EVENT TRIGGER hold ON ddl_command_start WHEN TAG IN ('CREATE INDEX')`,
  );

async function hold(pool: pg.Pool, body: string, trigger: string) {
  const holder = await pool.connect();
  await holder.query('SELECT pg_advisory_lock(7, 7)');
  await pool.query(`CREATE FUNCTION hold() ${body}; CREATE ${trigger} EXECUTE FUNCTION hold()`);
  return {
    async untilHeld(): Promise<void> {
      while (!(await isWaitedFor(pool, holder))) await sleep(10);
    },
    async release(): Promise<void> {
      holder.release(true);
      await pool.query('DROP FUNCTION hold CASCADE');
    },
  };
}

/** The number of connections in this database that wait for a lock. */
export async function countLockWaits(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  );
  return rowCount ?? 0;
}
