import type pg from 'pg';
import type { Sql } from '../sql.ts';
import { hasYielded, isUnavailable, StorageUnavailable } from './errors.ts';
import { pipeline } from './pipeline.ts';
import { withClient } from './pool.ts';
import { readsFromPrimary, replicasOf } from './replica.ts';
import { deadline, enterStorage, isShared } from './request-deadline.ts';

/** Runs one read outside a transaction, within the deadline. Errors are those of `reading`. */
export async function query<Row>(pool: pg.Pool, statement: Sql<Row>): Promise<Row[]> {
  return runRead(pool, async (client) => (await pipeline(client, [statement]))[0] as Row[]);
}

/** Runs statements in one transaction and one round trip, like `query`; resolves to the rows of each. */
export async function runTogether<Rows extends unknown[]>(
  pool: pg.Pool,
  statements: readonly [...{ [Turn in keyof Rows]: Sql<Rows[Turn]> }],
): Promise<{ [Turn in keyof Rows]: Rows[Turn][] }> {
  return (await runRead(pool, (client) => pipeline(client, statements))) as {
    [Turn in keyof Rows]: Rows[Turn][];
  };
}

/** How long a read waits for the replica before it goes to the primary, in milliseconds. */
const REPLICA_MS = 1000;

/**
 * Runs read-only work within the deadline, with one retry if the server aborted it in favour of
 * other work. Work for a replica runs on the primary if the replica lags, fails or is too slow, but
 * leaves half of its connections to other work.
 * Throws `StorageUnavailable` if storage fails.
 */
export async function runRead<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, from: pg.Pool) => Promise<Result>,
): Promise<Result> {
  // Before the wait for a share of the pool, so that the waiting reads are bounded too.
  enterStorage();
  const until = deadline();
  const replicas = replicasOf(pool);
  const replica = replicas?.choose();
  if (replica) {
    try {
      return await withClient(replica.pool, Math.min(until, performance.now() + REPLICA_MS), work);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (!hasYielded(error)) replica.failed();
    }
  }
  const onPrimary = () => withClient(replicas?.primary ?? pool, until, work);
  const attempt = () =>
    replicas && !readsFromPrimary() ? replicas.onPrimary(onPrimary, isShared()) : onPrimary();
  try {
    return await attempt().catch((error: unknown) => {
      if (!hasYielded(error)) throw error;
      return attempt();
    });
  } catch (error) {
    throw isUnavailable(error) ? new StorageUnavailable('read failed', { cause: error }) : error;
  }
}
