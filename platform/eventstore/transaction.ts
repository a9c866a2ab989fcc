import type pg from 'pg';
import { fault } from '../fault.ts';
import { mergeBatches } from '../postgres/batch-statements.ts';
import { destroyConnection } from '../postgres/client.ts';
import { rollBack } from '../postgres/connection.ts';
import { isRace, isServerError, StorageUnavailable } from '../postgres/errors.ts';
import { pipeline, type Query, send, toQuery } from '../postgres/pipeline.ts';
import { whileCommitting } from '../postgres/pool.ts';
import { named, type Sql, sql } from '../sql.ts';
import { MIN_ASKING_MS } from './commit-status.ts';
import {
  completeLoad,
  type FoundMember,
  findsOf,
  flattenReads,
  type Load,
  memberReadsOf,
  shapeRows,
} from './load.ts';
import type { Loaded, Plan } from './plan.ts';

/** The command lost a race and must be decided again on the state that the winner left. */
export class LostRace extends Error {}

/**
 * Begins a transaction with these settings. At another level, which a role or a database may have by default, the reads would not
 * see what was committed while the transaction waited for its locks.
 */
const beginWith = (settings: Readonly<Record<string, string>>): Sql[] => [
  sql`BEGIN ISOLATION LEVEL READ COMMITTED`,
  named(
    `SELECT ${Object.entries(settings)
      .map(([name, value]) => `set_config('${name}', '${value}', true)`)
      .join(', ')}`,
  ),
];
/** Without hash and merge joins, plans read by key, even plans made while a table was small. */
const BY_KEY = { enable_hashjoin: 'off', enable_mergejoin: 'off' };
const BEGIN = beginWith(BY_KEY);
const BEGIN_BATCH = beginWith({ ...BY_KEY, lock_timeout: '200ms' });
/** A named statement, so that the fault proxy of the tests can recognize it on the wire. */
const COMMIT: Sql = { name: 'COMMIT', text: 'COMMIT', values: [] };
const NOW = sql<Clock>`SELECT clock_timestamp() AS now, pg_current_xact_id()::text AS xid,
  current_setting('synchronous_standby_names') <> '' AS "hasStandbys"`;

interface Clock {
  now: Date;
  /** The transaction's id, to query its outcome. */
  xid: string;
  /** Whether synchronous standbys are configured. */
  hasStandbys: boolean;
}

export interface Begun extends Loaded, Clock {
  /** The reads, complete with those that had to be found. */
  load: Load;
}

/**
 * Begins a transaction, locks the command's members and runs its reads, in one round trip. What the
 * command has to find first takes one more, before the transaction.
 */
export async function begin(
  client: pg.PoolClient,
  plan: ToBegin,
  skipLocked: boolean,
): Promise<Begun> {
  const statements = statementsToFind(plan);
  const found = statements.length === 0 ? [] : await pipeline(client, statements);
  const { lock, load } = withFound(plan, found);
  return lockAndLoad(
    client,
    skipLocked ? BEGIN_BATCH : BEGIN,
    lock.map((id) => lockMember(id, skipLocked)),
    load,
  );
}

type ToBegin = Pick<Plan<unknown, string>, 'lock' | 'find' | 'load'>;

const membersToFind = ({ find = [], load }: ToBegin): Sql[] => [
  ...[find].flat(),
  ...memberReadsOf(load),
];

/** The statements that run before the transaction of a command. */
export const statementsToFind = (plan: ToBegin): Sql[] => [
  ...membersToFind(plan),
  ...findsOf(plan.load),
];

/**
 * What a command locks and loads, given the rows of `statementsToFind`: the distinct ids of members in the order in
 * which every command locks them, so that none deadlock, and the complete load.
 */
export function withFound(
  plan: ToBegin,
  found: readonly (readonly unknown[])[],
): { lock: string[]; load: Load } {
  const { length } = membersToFind(plan);
  const members = found.slice(0, length).flat() as FoundMember[];
  const ids = [...(plan.lock ?? []), ...members.flatMap(({ member_id }) => member_id ?? [])];
  return { lock: [...new Set(ids)].sort(), load: completeLoad(plan.load, found.slice(length)) };
}

/**
 * Locks further members and runs the reads again, in one round trip. It skips members that another
 * transaction has locked: to wait for them out of order could end in a deadlock.
 */
export async function lockMore(
  client: pg.PoolClient,
  { load, locked }: Begun,
  members: readonly string[],
): Promise<Begun> {
  const locks = [...new Set(members)].map((id) => lockMember(id, true));
  const begun = await lockAndLoad(client, [], locks, load);
  return { ...begun, locked: [...locked, ...begun.locked] };
}

async function lockAndLoad(
  client: pg.PoolClient,
  begins: readonly Sql[],
  locks: readonly Sql[],
  load: Load,
): Promise<Begun> {
  const statements = [...begins, ...locks, ...flattenReads(load), NOW];
  try {
    const results = await pipeline(client, statements);
    const [clock] = results.pop() as unknown as [Clock];
    const reads = results.slice(begins.length);
    const locked = reads.splice(0, locks.length).flat();
    return {
      // A value that is derived from rows may find that a race was lost.
      rows: shapeRows(load, reads),
      locked: locked.map((row) => row.member_id as string),
      load,
      ...clock,
    };
  } catch (error) {
    await rollBack(client);
    throw error;
  }
}

function lockMember(id: string, skipLocked: boolean): Sql {
  if (fault('no-lock')) return sql`SELECT member_id FROM feed_heads WHERE member_id = ${id}`;
  return skipLocked
    ? sql`SELECT member_id FROM feed_heads WHERE member_id = ${id} FOR UPDATE SKIP LOCKED`
    : sql`SELECT member_id FROM feed_heads WHERE member_id = ${id} FOR UPDATE`;
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

/** COMMIT was sent and got no answer, so the transaction may have been committed. */
export class CommitUnanswered extends Error {}

/**
 * Writes the statements and commits. `until` is a deadline on the clock of `performance.now()`;
 * `onTimeout` is called when the time for writing is over, before the connection is cut. Throws
 * `LostRace` after a lost race, `StorageUnavailable` if nothing was committed, and
 * `CommitUnanswered` if that is unknown.
 */
export async function commit(
  client: pg.PoolClient,
  statements: readonly Sql[],
  until: number,
  onTimeout: () => void,
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
  const cut = () => {
    onTimeout();
    destroyConnection(client);
  };
  const timer = setTimeout(cut, writingMs(until - performance.now()));
  try {
    await whileCommitting(client, () => send(client, queries));
  } catch (error) {
    if (!isServerError(error)) throw new CommitUnanswered('no answer', { cause: error });
    await rollBack(client);
    throw isRace(error) ? new LostRace('lost a race', { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}
