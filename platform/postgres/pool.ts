import pg from 'pg';
import { destroyConnection, requestCancel } from './client.ts';
import { backendPid, clientConfig, PLANNER_SETTINGS } from './connection.ts';
import { isCancelled, isReadOnly, mayBeOutdated, StorageUnavailable } from './errors.ts';
import { measureStorage } from './request-deadline.ts';

/** Set by a statement: a transaction pooler rejects connections with these startup parameters. */
const boundsOf = (statementMs: number) =>
  `set_config('statement_timeout', '${statementMs}', false),
  set_config('idle_in_transaction_session_timeout', '5000', false)`;
/** Statement timeout of connections that serve requests, in milliseconds. */
const REQUEST_STATEMENT_MS = 2500;

/**
 * Planner settings that a release could not set on the role, which may be another one, or that were
 * lost with a restored dump. Keeps values set on the role or the database: they may be tuned for another PostgreSQL engine.
 */
const PLANNER = `(SELECT count(set_config(name, value, false)) FROM pg_settings
  JOIN (VALUES ${Object.entries(PLANNER_SETTINGS)
    .map(([name, value]) => `('${name}', '${value}')`)
    .join(', ')}) AS wanted (name, value) USING (name)
  WHERE source NOT IN ('user', 'database', 'database user'))`;

const direct = new WeakSet<pg.ClientBase>();

/** Whether a connection is known to have its own server process, that is, no pooler in between. */
export const isDirect = (client: pg.ClientBase): boolean => direct.has(client);

/**
 * Opens a pool of at most `size` connections with timeouts for statements and transactions.
 * `onConnect` is awaited before a new connection is used, and fails the connection if it rejects.
 * `statementMs` is the timeout of statements in milliseconds.
 */
export function createPool(
  url: string,
  application: string,
  size: number,
  onConnect: (client: pg.ClientBase) => Promise<void> = async () => undefined,
  statementMs = REQUEST_STATEMENT_MS,
): pg.Pool {
  const bounds = boundsOf(statementMs);
  const pool = new pg.Pool({
    ...clientConfig(url, application),
    // The pool awaits it, although its type does not say so.
    // oxlint-disable-next-line typescript/no-misused-promises
    onConnect,
    max: size,
    allowExitOnIdle: true,
  });
  // Without the listeners, a broken connection, idle (this one) or in use, would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    // If this statement fails, the connection is lost too.
    client.query(`SELECT ${PLANNER}, ${bounds}, pg_backend_pid() AS pid`).then(
      ({ rows }) => {
        if (rows[0]?.pid === backendPid(client)) direct.add(client);
      },
      () => undefined,
    );
  });
  return pool;
}

/**
 * Acquires a connection from the pool within `ms` milliseconds; a connection that comes later goes
 * back to the pool. Any failure, even a wrong password, is `StorageUnavailable`: no statement was
 * sent.
 */
function acquire(pool: pg.Pool, ms: number): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      reject(new StorageUnavailable('no connection in time'));
    }, ms);
    pool.connect().then(
      (client) => {
        clearTimeout(timer);
        if (late) client.release();
        else resolve(client);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(new StorageUnavailable('no connection', { cause: error }));
      },
    );
  });
}

/** Connections that have run work, and may therefore hold prepared statements. */
const used = new WeakSet<pg.ClientBase>();

/** Time for a cancelled statement to end after its deadline, in milliseconds. */
const CANCEL_MS = 150;

const committing = new WeakSet<pg.ClientBase>();

/**
 * Runs statements that end with COMMIT. Nothing cancels them: that could end the wait for a standby,
 * and the server would report the COMMIT as done.
 */
export async function whileCommitting<Result>(
  client: pg.ClientBase,
  run: () => Promise<Result>,
): Promise<Result> {
  committing.add(client);
  try {
    return await run();
  } finally {
    committing.delete(client);
  }
}

/**
 * Ends the work on a connection at `until`: cancels its statement, so that the connection can serve the
 * next request, and cuts the connection if that does not end the work, or if it commits. `stop` ends
 * the watch; it resolves to whether a cancellation was sent, when none is under way any more.
 */
function watchDeadline(client: pg.ClientBase, until: number): { stop(): Promise<boolean> } {
  let cancelling: Promise<void> | undefined;
  let timer = setTimeout(end, Math.max(1, until - performance.now()));

  function end(): void {
    if (!isDirect(client) || committing.has(client)) {
      destroyConnection(client);
      return;
    }
    timer = setTimeout(() => destroyConnection(client), CANCEL_MS);
    cancelling = requestCancel(client, CANCEL_MS);
  }

  return {
    async stop() {
      clearTimeout(timer);
      await cancelling;
      return cancelling !== undefined;
    },
  };
}

/**
 * Runs `work` on a connection of the pool. At `until` (a `deadline`) its statement is cancelled or the
 * connection cut, so that a silent server blocks no request. A connection that is left inside a
 * transaction is discarded.
 *
 * If a prepared statement may be outdated, or a write met a server in recovery, the connection is
 * discarded and `work` runs again, so it must have rolled back by then. Every connection of the pool
 * may have the same fault, so retries continue until a new connection gives the same error. Behind a
 * pooler, a new connection may share a used server process, which may hold the outdated statement, so
 * retries then continue until the deadline.
 */
export function withClient<Result>(
  pool: pg.Pool,
  until: number,
  work: (client: pg.PoolClient, pool: pg.Pool) => Promise<Result>,
): Promise<Result> {
  return measureStorage(async () => {
    for (;;) {
      const client = await acquire(pool, Math.max(1, until - performance.now()));
      const watch = watchDeadline(client, until);
      const fresh = !used.has(client);
      used.add(client);
      let [discard, cancelled] = [false, false];
      try {
        return await work(client, pool);
      } catch (error) {
        const readOnly = isReadOnly(error);
        cancelled = isCancelled(error);
        discard = readOnly || mayBeOutdated(error);
        if (!discard || (fresh && (readOnly || isDirect(client)))) throw error;
      } finally {
        // A cancellation that ended no statement could end the next one.
        if ((await watch.stop()) && !cancelled) discard = true;
        client.release(discard || client.getTransactionStatus() !== 'I');
      }
    }
  });
}
