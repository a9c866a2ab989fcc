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

/** The number of connections in this database that wait for a lock. */
export async function countLockWaits(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  );
  return rowCount ?? 0;
}
