import type pg from 'pg';
import { type LockWait, takeAdvisoryLock } from '../../platform/postgres/advisory-lock.ts';
import { destroyConnection } from '../../platform/postgres/client.ts';
import { addressConfig, BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { dropLeftOver } from './rebuilt-tables.ts';

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
  const config = addressConfig(url, NAME);
  const pids: number[] = [];
  try {
    return await withConnection({ ...config, pipeline: true }, (client) =>
      withConnection(config, async (reader) => {
        const cutBoth = () => [client, reader].forEach(destroyConnection);
        interrupted?.addEventListener('abort', cutBoth);
        try {
          interrupted?.throwIfAborted();
          for (const each of [client, reader]) pids.push(await pidOf(each));
          await takeAdvisoryLock(client, 'rebuild', wait);
          await prepare(client);
          return await work({ client, reader });
        } finally {
          interrupted?.removeEventListener('abort', cutBoth);
        }
      }),
    );
  } catch (error) {
    // If this cleanup fails, the next erasure drops the tables.
    if (pids.length > 0)
      await withConnection(config, (client) => cleanUp(client, pids)).catch(() => undefined);
    throw interrupted?.aborted ? interrupted.reason : error;
  }
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

async function prepare(client: pg.Client): Promise<void> {
  // A crash may lose pages, because the next rebuild starts over anyway.
  await client.query('SET synchronous_commit = off');
  // The tables start empty, so a plan that scans them would be wrong after a page.
  await client.query(BY_INDEX);
  await client.query('SET enable_hashjoin = off');
  await client.query('SET enable_mergejoin = off');
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
