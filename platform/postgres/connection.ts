import pg from 'pg';
import { parseJson } from '../json.ts';
import { Client } from './client.ts';
import type { Engine } from './engine.ts';

/** Most scheduled work comes again within a minute, and a new connection costs more than the work. */
const IDLE_MS = 75_000;

/**
 * An address, which may have several hosts, and the name that its connections show. A pool, that of
 * pg-boss included, makes its connections with the client that this names, and closes idle ones after this time.
 */
export const addressConfig = (url: string, application: string) => ({
  connectionString: url,
  application_name: application,
  Client,
  idleTimeoutMillis: IDLE_MS,
});

/** Settings of the service's connections: also pipelining, a connect timeout of 2 s and keepalive. */
export function clientConfig(url: string, application: string): pg.PoolConfig {
  return {
    ...addressConfig(url, application),
    connectionTimeoutMillis: 2000,
    keepAlive: true,
    types: valueParsers,
    pipeline: true,
  };
}

/**
 * Planner settings for short statements. Planning takes longer than execution, so each connection
 * plans a statement once, for any values; without sequential scans, because such a plan is still in
 * use when the table has grown. JIT is off: before PostgreSQL 18, a sequential scan that cannot be
 * avoided looks expensive enough to trigger it.
 */
export const PLANNER_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  jit: 'off',
} as const;

/** The same for an engine: Citus has to see the values, which say where the rows are. */
export const plannerSettings = ({ distributed }: Engine) => ({
  ...PLANNER_SETTINGS,
  ...(distributed ? { plan_cache_mode: 'auto' } : {}),
});

/** Sets the planner settings for a session. */
export const BY_INDEX = `SELECT ${Object.entries(PLANNER_SETTINGS)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(', ')}`;

/** Resets the timeouts and the planner settings that the role or the database may have. */
const UNBOUNDED = `SELECT set_config('statement_timeout', '0', false),
  set_config('lock_timeout', '0', false),
  set_config('idle_in_transaction_session_timeout', '0', false),
  set_config('plan_cache_mode', 'auto', false), set_config('enable_seqscan', 'on', false)`;

/** The id of the server process, as the server reported it when the connection began. */
export const backendPid = (client: pg.ClientBase): number =>
  (client as unknown as { processID: number }).processID;

/**
 * Rolls back without checking the transaction status: the driver reports an error before it knows
 * that a transaction is open. Never throws.
 */
export async function rollBack(client: pg.ClientBase): Promise<void> {
  await client.query('ROLLBACK').catch(() => undefined);
}

/** Runs `work` on a new connection without timeouts and without the settings of a pool. */
export async function withConnection<Result>(
  config: string | pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(config);
  // A lost connection already fails the pending query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(UNBOUNDED);
    return await work(client);
  } finally {
    await client.end();
  }
}

const { builtins } = pg.types;
const PARSERS_BY_OID: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: Number,
  [builtins.DATE]: String,
  [builtins.JSON]: parseJson,
  [builtins.JSONB]: parseJson,
};

/**
 * The driver's parsers, except that bigint becomes a number, a date stays text without a time zone,
 * and JSON is parsed by `parseJson`.
 */
const valueParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    PARSERS_BY_OID[oid] ??
    pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};
