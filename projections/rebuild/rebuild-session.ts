import type pg from 'pg';
import { type LockWait, takeAdvisoryLock } from '../../platform/postgres/advisory-lock.ts';
import { addressConfig, withConnection } from '../../platform/postgres/connection.ts';
import { dropLeftOver } from './rebuilt-tables.ts';
import { planByIndex, withTwoConnections } from './two-connections.ts';

const NAME = 'service rebuild';

export interface Session {
  client: pg.Client;
  reader: pg.Client;
}

/**
 * Runs a rebuild on separate connections, without the deadline of a request. The connections hold
 * the lock that allows one rebuild at a time. After a failure or an interruption, its tables are
 * dropped.
 */
export async function inSession<Result>(
  url: string,
  work: (session: Session) => Promise<Result>,
  interrupted?: AbortSignal,
  wait?: LockWait,
): Promise<Result> {
  const pids: number[] = [];
  try {
    return await withTwoConnections(url, NAME, interrupted, async (client, reader) => {
      for (const each of [client, reader]) pids.push(await pidOf(each));
      await takeAdvisoryLock(client, 'rebuild', wait);
      await prepare(client);
      return work({ client, reader });
    });
  } catch (error) {
    // If this cleanup fails, the next erasure drops the tables.
    if (pids.length > 0)
      await withConnection(addressConfig(url, NAME), (client) => cleanUp(client, pids)).catch(
        () => undefined,
      );
    throw error;
  }
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

async function prepare(client: pg.Client): Promise<void> {
  // A crash may lose pages, because the next rebuild starts over anyway.
  await client.query('SET synchronous_commit = off');
  await planByIndex(client);
}

async function cleanUp(client: pg.Client, pids: readonly number[]): Promise<void> {
  // The server may still execute statements of a destroyed connection.
  await client.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE pid = ANY($1) AND application_name = $2`,
    [pids, NAME],
  );
  await client.query(dropLeftOver().text);
}
