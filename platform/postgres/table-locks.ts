import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Short, because every query that needs a table queues behind a pending lock on it. */
const WAIT_MS = 150;
const PAUSES_MS = { first: 50, longest: 1000 };
/** A backup may hold its locks for an hour. */
const PATIENCE_MS = 3_600_000;
const POLL_MS = 10;

/** A lock timeout; or a deadlock, as with a worker of autovacuum that analyses a table. */
const RETRIED: readonly string[] = ['55P03', '40P01'];

export interface Waiting {
  /** Runs before each further attempt to take the locks. */
  meanwhile?: () => Promise<unknown>;
  /** Begins each transaction; by default with the settings of the session. */
  begin?: string;
  /** Called with the ids of the server processes that block this work. */
  tell: (pids: readonly number[]) => void;
}

/**
 * Runs `work` in a transaction after the LOCK statements in `locks`. Other transactions take these
 * locks in other orders or hold them for long, so each attempt gives up early. Throws if no attempt
 * succeeds within an hour. `observer` is a second connection, which finds the blocking processes.
 */
export async function withLocks<Result>(
  client: pg.Client,
  observer: pg.Client,
  locks: readonly string[],
  work: () => Promise<Result>,
  { meanwhile = async () => undefined, begin = 'BEGIN', tell }: Waiting,
): Promise<Result> {
  const until = performance.now() + PATIENCE_MS;
  for (let pause = PAUSES_MS.first; ; pause = Math.min(2 * pause, PAUSES_MS.longest)) {
    try {
      await client.query(begin);
      await lockAll(client, observer, locks, tell);
      const result = await work();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      if (!RETRIED.includes((error as { code?: string }).code ?? '')) throw error;
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
      // The next attempt reports a blocking process that this one misses.
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
 * Waits until every transaction that has written to the table so far has ended. It polls and takes
 * no lock: while a lock request waits, for example for VACUUM, every writer would queue behind it.
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

/** The transactions that have written to a table, or are about to. */
async function writersOf(client: pg.Client, table: string) {
  const { rows } = await client.query<{ id: string; pid: number }>(
    `SELECT virtualtransaction AS id, pid FROM pg_locks
     WHERE relation = $1::regclass AND mode = 'RowExclusiveLock' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [table],
  );
  return rows;
}
