import pg from 'pg';
import { types } from './value-parsers.ts';

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

/** A database can be set up with deadlines for every connection: these keep to none. */
const UNBOUNDED = `SELECT set_config('statement_timeout', '0', false),
  set_config('lock_timeout', '0', false),
  set_config('idle_in_transaction_session_timeout', '0', false)`;

/** The server's process that serves a connection, as it was told when the connection began. */
export const backendOf = (client: pg.ClientBase): number =>
  (client as unknown as { processID: number }).processID;

/** At once: the driver tells of an error before it knows that a transaction is open. */
export async function rollBack(client: pg.ClientBase): Promise<void> {
  await client.query('ROLLBACK').catch(() => undefined);
}

/** Destroys the connection, so that whatever waits on it fails now. */
export function cut(client: pg.ClientBase): void {
  (
    client as unknown as { connection: { stream: { destroy(): void } } }
  ).connection.stream.destroy();
}

/** A connection for this work alone: no deadlines or other settings of a pool hold for it. */
export async function withConnection<Result>(
  config: string | pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(config);
  // One that is lost fails the query that waits.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(UNBOUNDED);
    return await work(client);
  } finally {
    await client.end();
  }
}
