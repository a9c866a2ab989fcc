import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Everyone who asks for a table while a lock on it is waited for waits as well. */
const WAIT_MS = 150;
const PAUSES_MS = { first: 50, longest: 1000 };
/** A backup may hold its locks that long. */
const PATIENCE_MS = 3_600_000;
const POLL_MS = 10;

export interface Waiting {
  /** Done before the locks are tried again. */
  meanwhile?: () => Promise<unknown>;
  /** The processes that are waited for. */
  tell: (pids: readonly number[]) => void;
}

/**
 * Work in a transaction that has these locks. Others take them in orders of their own, or for long,
 * so this gives way soon, and tries again for an hour. `observer` is another connection.
 */
export async function withLocks<Result>(
  client: pg.Client,
  observer: pg.Client,
  locks: readonly string[],
  work: () => Promise<Result>,
  { meanwhile = async () => undefined, tell }: Waiting,
): Promise<Result> {
  const until = performance.now() + PATIENCE_MS;
  for (let pause = PAUSES_MS.first; ; pause = Math.min(2 * pause, PAUSES_MS.longest)) {
    try {
      await client.query('BEGIN');
      await lockAll(client, observer, locks, tell);
      const result = await work();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      if ((error as { code?: string }).code !== '55P03') throw error;
      if (performance.now() > until)
        throw new Error('Others held locks on the tables for an hour', { cause: error });
    }
    await sleep(pause);
    await meanwhile();
  }
}

async function lockAll(
  client: pg.Client,
  observer: pg.Client,
  locks: readonly string[],
  tell: Waiting['tell'],
): Promise<void> {
  const { rows } = await client.query<{ pid: number }>(
    `SELECT set_config('lock_timeout', '${WAIT_MS}ms', true), pg_backend_pid() AS pid`,
  );
  for (const lock of locks) {
    const look = setTimeout(() => {
      // Whoever is not seen now is at the next attempt.
      blocking(observer, rows[0]?.pid ?? 0).then(
        (pids) => pids.length > 0 && tell(pids),
        () => undefined,
      );
    }, WAIT_MS / 2);
    try {
      await client.query(lock);
    } finally {
      clearTimeout(look);
    }
  }
}

async function blocking(observer: pg.Client, pid: number): Promise<number[]> {
  const { rows } = await observer.query<{ pids: number[] }>('SELECT pg_blocking_pids($1) AS pids', [
    pid,
  ]);
  return rows[0]?.pids ?? [];
}

/**
 * Waits until everyone who has written into the table by now has ended. It takes no lock: behind one
 * that waits, be it for VACUUM, every writer would wait as well.
 */
export async function untilWritersEnd(
  client: pg.Client,
  table: string,
  { tell }: Waiting,
): Promise<void> {
  const started = performance.now();
  let writers = await writersOf(client, table);
  while (writers.length > 0) {
    await sleep(POLL_MS);
    const still = new Set((await writersOf(client, table)).map(({ id }) => id));
    writers = writers.filter(({ id }) => still.has(id));
    if (writers.length > 0 && performance.now() - started > PAUSES_MS.longest)
      tell(writers.map(({ pid }) => pid));
  }
}

/** The transactions that have written into a table, or are about to. */
async function writersOf(client: pg.Client, table: string) {
  const { rows } = await client.query<{ id: string; pid: number }>(
    `SELECT virtualtransaction AS id, pid FROM pg_locks
     WHERE relation = $1::regclass AND mode = 'RowExclusiveLock' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [table],
  );
  return rows;
}
