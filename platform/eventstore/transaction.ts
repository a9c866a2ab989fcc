import type pg from 'pg';
import { mergeBatches } from '../batch-statements.ts';
import { fault } from '../fault.ts';
import { cut, rollBack } from '../postgres/connection.ts';
import { isRace, isServerError, StorageUnavailable } from '../postgres/errors.ts';
import { pipeline, type Query, send, toQuery } from '../postgres/pipeline.ts';
import { named, type Sql, sql } from '../sql.ts';
import { LEAST_MS } from './commit-status.ts';
import { readsOf, rowsOf } from './load.ts';
import type { Loaded, Plan } from './plan.ts';

/** The command lost a race: decide again on what the winner left. */
export class TryAgain extends Error {}

const BEGIN = sql`BEGIN`;
/** Named, so that a proxy between the two can see it. */
const COMMIT: Sql = { name: 'COMMIT', text: 'COMMIT', values: [] };
/** What a command reads it finds by keys, however small a table was when the plan was made. */
const settings = (lockTimeout: string) =>
  sql`SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
    set_config('lock_timeout', ${lockTimeout}, true)`;
const PATIENT = settings('0');
const IMPATIENT = settings('200ms');
const NOW = sql`SELECT clock_timestamp() AS now, pg_current_xact_id()::text AS xid`;

export interface Begun extends Loaded {
  /** The transaction's id, by which its fate can be asked. */
  xid: string;
}

/** Begins a transaction: the plan's members are locked, then what it loads is read. */
export async function begin(
  client: pg.PoolClient,
  { gate, lock, impatient = false, load }: Omit<Plan<unknown, string>, 'decide'>,
): Promise<Begun> {
  const statements = [
    BEGIN,
    impatient ? IMPATIENT : PATIENT,
    ...(gate ? [gate] : []),
    ...(lock ? [lockStatement(lock, impatient)] : []),
    ...readsOf(load),
    NOW,
  ];
  const results = await pipeline(client, statements).catch(async (error: unknown) => {
    await rollBack(client);
    throw error;
  });
  const [clock] = results.pop() as unknown as [{ now: Date; xid: string }];
  const reads = results.slice(gate ? 3 : 2);
  const locked = lock ? (reads.shift() ?? []) : [];
  return {
    rows: rowsOf(load, reads),
    locked: locked.map((row) => row.member_id as string),
    ...clock,
  };
}

function lockStatement(lock: readonly string[] | Sql, impatient: boolean): Sql {
  const forUpdate = fault('no-lock') ? '' : impatient ? 'FOR UPDATE SKIP LOCKED' : 'FOR UPDATE';
  if ('text' in lock) {
    const text = `SELECT member_id FROM feed_heads WHERE member_id IN (${lock.text})
      ORDER BY member_id ${forUpdate}`;
    return { name: `lock-${lock.name}`, text, values: lock.values };
  }
  return named(
    `SELECT member_id FROM feed_heads WHERE member_id = ANY($1::uuid[])
      ORDER BY member_id ${forUpdate}`,
    [lock],
  );
}

/** What a command leaves of its time to ask for its fate, and the least time for writing, in ms. */
const ASKING_MS = 700;
const WRITING_MS = 200;
/** A command may exceed its deadline by this, in milliseconds; its caller waits less than 3 s. */
const OVERRUN_MS = 100;
/** With less time left, in milliseconds, no write is begun whose fate might have to be asked. */
export const NEEDED_MS = WRITING_MS + LEAST_MS - OVERRUN_MS;

/** How long writing may take, in milliseconds, with this much time left. */
export const writingMs = (left: number): number => Math.max(WRITING_MS, left - ASKING_MS);

/**
 * Writes the statements and commits. Where COMMIT gets no answer, `wasCommitted` decides. `until` is
 * a deadline on the clock of `performance.now()`.
 */
export async function commit(
  client: pg.PoolClient,
  statements: readonly Sql[],
  wasCommitted: () => Promise<boolean>,
  until: number,
): Promise<void> {
  if (until - performance.now() < NEEDED_MS) {
    await rollBack(client);
    throw new StorageUnavailable('too late to write');
  }
  let queries: Query[];
  try {
    queries = [...mergeBatches(statements), COMMIT].map(toQuery);
  } catch (error) {
    await rollBack(client);
    throw error;
  }
  const timer = setTimeout(() => cut(client), writingMs(until - performance.now()));
  try {
    await send(client, queries);
  } catch (error) {
    if (isServerError(error)) {
      await rollBack(client);
      throw isRace(error) ? new TryAgain('lost a race', { cause: error }) : error;
    }
    if (await wasCommitted()) return;
    throw new StorageUnavailable('the transaction was not committed', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
