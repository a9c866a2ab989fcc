import type pg from 'pg';
import { mergeBatches } from '../batch-statements.ts';
import { fault } from '../fault.ts';
import { destroyConnection, rollBack } from '../postgres/connection.ts';
import { isRace, isServerError, StorageUnavailable } from '../postgres/errors.ts';
import { pipeline, type Query, send, toQuery } from '../postgres/pipeline.ts';
import { named, type Sql, sql } from '../sql.ts';
import type { Command, Loaded } from './command.ts';
import { MIN_ASKING_MS } from './commit-status.ts';
import { completeLoad, findsOf, flattenReads, shapeRows } from './load.ts';

/** The command lost a race and must be decided again on the state that the winner left. */
export class LostRace extends Error {}

/**
 * Begins a transaction. Without hash and merge joins, plans read by key, even plans made while a
 * table was small. Several statements in one text travel as one unnamed query.
 */
const begins = (...settings: string[]): Sql => ({
  name: '',
  text: ['BEGIN', ...settings.map((setting) => `SET LOCAL ${setting}`)].join('; '),
  values: [],
});
const BY_KEY = ['enable_hashjoin = off', 'enable_mergejoin = off'];
const PATIENT = begins(...BY_KEY);
const IMPATIENT = begins(...BY_KEY, "lock_timeout = '200ms'");
/** A named statement, so that the fault proxy of the tests can recognize it on the wire. */
const COMMIT: Sql = { name: 'COMMIT', text: 'COMMIT', values: [] };
const NOW = sql`SELECT clock_timestamp() AS now, pg_current_xact_id()::text AS xid`;

export interface Begun extends Loaded {
  /** The transaction's id, to query its outcome. */
  xid: string;
}

/**
 * Begins a transaction, locks the command's members and runs its reads, in one round trip. Reads
 * that depend on others take one round trip more, before the transaction.
 */
export async function begin(
  client: pg.PoolClient,
  { gate, lock, impatient = false, load: declared }: Omit<Command<unknown, string>, 'decide'>,
): Promise<Begun> {
  const finds = findsOf(declared);
  const load =
    finds.length === 0 ? declared : completeLoad(declared, await pipeline(client, finds));
  const statements = [
    impatient ? IMPATIENT : PATIENT,
    ...(gate ? [gate] : []),
    ...(lock ? [lockStatement(lock, impatient)] : []),
    ...flattenReads(load),
    NOW,
  ];
  const results = await pipeline(client, statements).catch(async (error: unknown) => {
    await rollBack(client);
    throw error;
  });
  const [clock] = results.pop() as unknown as [{ now: Date; xid: string }];
  const reads = results.slice(gate ? 2 : 1);
  const locked = lock ? (reads.shift() ?? []) : [];
  return {
    rows: shapeRows(load, reads),
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

/** Time that is reserved, in milliseconds, to query the outcome of a COMMIT without an answer. */
const ASKING_MS = 700;
/** Shortest timeout for writing, in milliseconds. */
const WRITING_MS = 200;
/** A command may exceed its deadline by this, in milliseconds; its client waits less than 3 s. */
const OVERRUN_MS = 100;
/** Least time left, in milliseconds, to begin a write, so that its outcome can be queried. */
export const MIN_WRITE_MS = WRITING_MS + MIN_ASKING_MS - OVERRUN_MS;

/** The timeout for writing, given the time left before the deadline; both in milliseconds. */
export const writingMs = (left: number): number => Math.max(WRITING_MS, left - ASKING_MS);

/**
 * Writes the statements and commits. If COMMIT gets no answer, `wasCommitted` resolves the outcome.
 * `until` is a deadline on the clock of `performance.now()`. Throws `LostRace` after a lost race
 * and `StorageUnavailable` if nothing was committed.
 */
export async function commit(
  client: pg.PoolClient,
  statements: readonly Sql[],
  wasCommitted: () => Promise<boolean>,
  until: number,
): Promise<void> {
  if (until - performance.now() < MIN_WRITE_MS) {
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
  const timer = setTimeout(() => destroyConnection(client), writingMs(until - performance.now()));
  try {
    await send(client, queries);
  } catch (error) {
    if (isServerError(error)) {
      await rollBack(client);
      throw isRace(error) ? new LostRace('lost a race', { cause: error }) : error;
    }
    if (await wasCommitted()) return;
    throw new StorageUnavailable('the transaction was not committed', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
