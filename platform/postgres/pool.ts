import pg from 'pg';
import { BY_INDEX, backendOf, clientConfig, cut } from './connection.ts';
import { mayBeOutdated, StorageUnavailable } from './errors.ts';
import { spending } from './request-deadline.ts';

/** Asked for as statements: a transaction pooler refuses a connection that begins with them. */
const BOUNDS = `set_config('statement_timeout', '2500', false),
  set_config('idle_in_transaction_session_timeout', '5000', false)`;

const direct = new WeakSet<pg.ClientBase>();

/** Whether a connection is known to have a process of the server for itself, as behind no pooler. */
const isDirect = (client: pg.ClientBase): boolean => direct.has(client);

export function openPool(url: string, application: string, size: number): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(url, application),
    max: size,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  // Without listeners a connection that breaks, idle (the first) or in use, would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    // Where this is lost, the connection is.
    client.query(`${BY_INDEX}, ${BOUNDS}, pg_backend_pid() AS pid`).then(
      ({ rows }) => {
        if (rows[0]?.pid === backendOf(client)) direct.add(client);
      },
      () => undefined,
    );
  });
  return pool;
}

/**
 * A connection of the pool, within `ms` milliseconds; one that comes later goes straight back. For
 * whatever reason there is none, be it a wrong password, nothing was asked of storage yet.
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

/** What has been worked on, so that statements may be prepared there. */
const used = new WeakSet<pg.ClientBase>();

/**
 * Work on a connection of the pool until `until` (a `deadline`), when the connection is cut, so that
 * a silent server holds nobody. One left inside a transaction is not used again. Where a statement may
 * be outdated the work is begun anew, so what it did before must be undone by then: as many connections
 * may have prepared it as the pool has, but one that is new has not, and its answer stands (unless a
 * pooler lends it what others worked on).
 */
export function withClient<Result>(
  pool: pg.Pool,
  until: number,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return spending(async () => {
    for (;;) {
      const client = await acquire(pool, until - performance.now());
      const timer = setTimeout(() => cut(client), Math.max(1, until - performance.now()));
      const fresh = !used.has(client);
      used.add(client);
      let outdated = false;
      try {
        return await work(client);
      } catch (error) {
        outdated = mayBeOutdated(error) && !(fresh && isDirect(client));
        if (!outdated) throw error;
      } finally {
        clearTimeout(timer);
        client.release(outdated || client.getTransactionStatus() !== 'I');
      }
    }
  });
}
