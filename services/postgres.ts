import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import type { Sql } from './eventstore/sql.ts';
import { backendOf } from './postgres/connection.ts';
import { pipeline, RolledBack } from './postgres/pipeline.ts';
import { types } from './postgres/value-parsers.ts';

/** Storage cannot be reached, is shutting down or does not answer in time: 503, nothing happened. */
export class StorageUnavailable extends Error {}

/** COMMIT was sent and its fate could not be learnt: 503, the write may or may not have happened. */
export class OutcomeUnconfirmed extends Error {}

/** How long storage may keep a request waiting before it is refused, in milliseconds. */
const PATIENCE_MS = 2800;

const patience = new AsyncLocalStorage<{ left: number }>();

/**
 * All that is asked of storage in `work` shares one patience: a request's reads and its command. What
 * is asked for others who have waited takes until their `deadline`.
 */
export function sharedPatience<Result>(
  work: () => Promise<Result>,
  until = performance.now() + PATIENCE_MS,
): Promise<Result> {
  return patience.run({ left: until - performance.now() }, work);
}

/** Work that may use up what is left of the patience; `until` is a `deadline`. */
export async function patiently<Result>(work: (until: number) => Promise<Result>): Promise<Result> {
  const shared = patience.getStore();
  const started = performance.now();
  try {
    // Outside of it, since work for several requests at once is done on behalf of none of them.
    return await patience.run(undefined as never, () =>
      work(started + (shared?.left ?? PATIENCE_MS)),
    );
  } finally {
    if (shared) shared.left -= performance.now() - started;
  }
}

/** Until when storage may take now, by `performance.now()`, which no change of the clock moves. */
export function deadline(): number {
  return performance.now() + (patience.getStore()?.left ?? PATIENCE_MS);
}

/** Settings of every connection: pipelined, bounded on both sides, and known by name to the server. */
export function clientConfig(url: string, application: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: application,
    connectionTimeoutMillis: 2000,
    keepAlive: true,
    types,
    pipeline: true,
  };
}

/**
 * What is asked takes longer to plan than to run, so it is planned once on each connection, for any
 * values; and by index, since such a plan outlives the time when a table is small. JIT is meant for
 * what costs much: before version 18 a scan that cannot be avoided seems to.
 */
export const BY_INDEX = `SELECT set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false)`;

/** Asked for as statements: a transaction pooler refuses a connection that begins with them. */
const BOUNDS = `set_config('statement_timeout', '2500', false),
  set_config('idle_in_transaction_session_timeout', '5000', false)`;

const direct = new WeakSet<pg.ClientBase>();

/** Whether a connection is known to have a process of the server for itself, as behind no pooler. */
export const isDirect = (client: pg.ClientBase): boolean => direct.has(client);

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

/** Undone for another's sake; on a replica also where what a read sees has to go. To be run again. */
const YIELDED = [
  '40001', // serialization_failure
  '40P01', // deadlock_detected
];

const UNAVAILABLE = new Set([
  ...YIELDED,
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P04', // database_dropped
  '57P05', // idle_session_timeout
  '57014', // query_canceled (statement_timeout)
  '55P03', // lock_not_available
  '25006', // read_only_sql_transaction
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '3D000', // database does not exist (dropped or being restored)
]);

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

const hasYielded = (error: unknown): boolean => YIELDED.includes(codeOf(error));

/** A unique index, a deadlock or a serialization failure: decide again on what the winner left. */
export const isRace = (error: unknown): boolean => codeOf(error) === '23505' || hasYielded(error);

/** True where the fault is the storage's or the network's, false where it is a bug of ours. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StorageUnavailable || error instanceof RolledBack) return true;
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (error instanceof pg.DatabaseError)
    return typeof code === 'string' && (UNAVAILABLE.has(code) || /^(08|53|58)/.test(code));
  return (
    (typeof code === 'string' && /^E[A-Z]+$/.test(code)) ||
    /^(timeout exceeded|Connection terminated|Query read timeout|Client (has encountered|was closed))/.test(
      error.message,
    )
  );
}

/**
 * A migration changed what a prepared statement answers. No more can be had from it on its
 * connection; on another it is prepared anew.
 */
function isOutdated(error: unknown): boolean {
  return (error as { code?: unknown }).code === '0A000';
}

/** What may end the connection, or the server, rather than the statement alone. */
const ENDING = /^(08|28|3D|53|57P|58|F0|XX|25P0[345]$)/;

/**
 * The server refused the statement and said so: the connection stands, and nothing came of it. Where
 * the server speaks another language its word for ERROR is unknown, and what it could be tells.
 */
export function isServerError(error: unknown): boolean {
  if (error instanceof RolledBack) return true;
  if (!(error instanceof pg.DatabaseError)) return false;
  const { severity, code } = error;
  if (severity === 'ERROR') return true;
  return severity !== 'FATAL' && severity !== 'PANIC' && code !== undefined && !ENDING.test(code);
}

/** Destroys the connection, so that whatever waits on it fails now. */
export function cut(client: pg.ClientBase): void {
  (
    client as unknown as { connection: { stream: { destroy(): void } } }
  ).connection.stream.destroy();
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

/**
 * Work on a connection of the pool until `until` (a `deadline`), when the connection is cut, so that
 * a silent server holds nobody. One left inside a transaction is not used again. Where a statement is
 * outdated the work is begun anew on another connection, so what it did before must be undone by then.
 */
export async function withClient<Result>(
  pool: pg.Pool,
  until: number,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const started = performance.now();
  try {
    for (;;) {
      const client = await acquire(pool, until - performance.now());
      const timer = setTimeout(() => cut(client), Math.max(1, until - performance.now()));
      let outdated = false;
      try {
        return await work(client);
      } catch (error) {
        outdated = isOutdated(error);
        if (!outdated) throw error;
      } finally {
        clearTimeout(timer);
        client.release(outdated || client.getTransactionStatus() !== 'I');
      }
    }
  } finally {
    const shared = patience.getStore();
    if (shared) shared.left -= performance.now() - started;
  }
}

/** One read outside a transaction, within the deadline. */
export async function query<Row>(pool: pg.Pool, statement: Sql<Row>): Promise<Row[]> {
  return reading(pool, async (client) => (await pipeline(client, [statement]))[0] as Row[]);
}

/** What reads alone, within the deadline; once more where it had to yield. */
export async function reading<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const until = deadline();
  const attempt = () => withClient(pool, until, work);
  try {
    return await attempt().catch((error: unknown) => {
      if (!hasYielded(error)) throw error;
      return attempt();
    });
  } catch (error) {
    throw isUnavailable(error) ? new StorageUnavailable('read failed', { cause: error }) : error;
  }
}
