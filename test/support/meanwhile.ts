import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** What is answered to a request that waits for a lock until something else is done. */
export async function meanwhile<Answer>(
  pool: pg.Pool,
  lock: string,
  request: () => Promise<Answer>,
  done: () => Promise<unknown>,
): Promise<Answer> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(lock);
    const answer = request();
    for (let turn = 0; (await waitingForLocks(pool)) === 0; turn++) {
      if (turn === 500) throw new Error('nothing waits for the lock');
      await sleep(10);
    }
    await done();
    await client.query('COMMIT');
    return await answer;
  } finally {
    client.release(true);
  }
}

/** How many wait for a lock in this database. */
export async function waitingForLocks(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  );
  return rowCount ?? 0;
}
