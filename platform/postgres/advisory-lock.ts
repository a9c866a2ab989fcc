import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { named, type Sql } from '../sql.ts';

const POLL_MS = 100;

export interface LockWait {
  /** Called with one line about the holder, again and again, while the lock is held by another session. */
  tell?: (line: string) => void;
  tellEveryMs?: number;
  patienceMs?: number;
}

interface Holder {
  pid: number;
  application: string | null;
  since: Date | null;
}

/**
 * Runs `work` while this session holds the advisory lock of a name. Waits for another holder for a minute, then
 * throws; both name the holder.
 */
export async function withAdvisoryLock<Result>(
  client: pg.ClientBase,
  name: string,
  work: () => Promise<Result>,
  wait: LockWait = {},
): Promise<Result> {
  await takeAdvisoryLock(client, name, wait);
  try {
    return await work();
  } finally {
    // If the connection is lost, the server releases the lock.
    await client.query('SELECT pg_advisory_unlock(hashtext($1))', [name]).catch(() => undefined);
  }
}

/** Takes the advisory lock of a name for the rest of the session. Waits and throws as `withAdvisoryLock`. */
export async function takeAdvisoryLock(
  client: pg.ClientBase,
  name: string,
  { tell = () => undefined, tellEveryMs = 5000, patienceMs = 60_000 }: LockWait = {},
): Promise<void> {
  const started = performance.now();
  for (let reported = started; !(await tryLock(client, name)); await sleep(POLL_MS)) {
    const now = performance.now();
    if (now - started > patienceMs)
      throw new Error(
        `${await describeHolders(client, name)}: end it with SELECT pg_terminate_backend(PID) if it is not at work`,
      );
    if (now - reported < tellEveryMs) continue;
    reported = now;
    tell(await describeHolders(client, name));
  }
}

async function tryLock(client: pg.ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock(hashtext($1)) AS locked',
    [name],
  );
  return rows[0]?.locked ?? false;
}

/** The sessions that hold the lock of a name. A pooler's session may have kept it after its client was gone. */
const holdersOf = (name: string): Sql<Holder> =>
  named(
    `SELECT pid, application_name AS application, coalesce(xact_start, backend_start) AS since
     FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND objsubid = 1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (classid::bigint << 32 | objid::bigint) = hashtext($1)`,
    [name],
  );

async function describeHolders(client: pg.ClientBase, name: string): Promise<string> {
  const { text, values } = holdersOf(name);
  const { rows } = await client.query<Holder>(text, values);
  const holders = rows.map(
    ({ pid, application, since }) =>
      `process ${pid} (${application || 'no name'}${since ? `, since ${since.toISOString()}` : ''})`,
  );
  return `The lock ${name} is held by ${holders.join(', ') || 'another process'}`;
}
