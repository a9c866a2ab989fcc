import type pg from 'pg';
import { backendOf, cut, rollBack } from '../postgres/connection.ts';
import { isRace, isServerError, StorageUnavailable } from '../postgres/errors.ts';
import { openPipeline, pipeline } from '../postgres/pipeline.ts';
import { readsOf, rowsOf } from './load.ts';
import { mergeLists } from './merge.ts';
import { LEAST_MS, type Transaction } from './outcome.ts';
import type { Loaded, Plan } from './plan.ts';
import { gatherReads } from './reads.ts';
import { type Sql, sql } from './sql.ts';

export class TryAgain extends Error {}

const BEGIN = sql`BEGIN`;
const ROLLBACK = sql`ROLLBACK`;
/** Its name can be seen on the wire. */
const COMMIT: Sql = { name: 'COMMIT', text: 'COMMIT', values: [] };
/**
 * What a command reads it finds by keys, however small a table is when that is planned. Neighbours
 * wait no longer than this for each other's rows; each goes alone then, as long as it may.
 */
const settings = (lockTimeout: string) =>
  sql`SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
    set_config('lock_timeout', ${lockTimeout}, true)`;
const ALONE = settings('0');
const TOGETHER = settings('200ms');
const NOW = sql`SELECT clock_timestamp() AS now, pg_current_xact_id()::text AS xid`;

type Needs = Pick<Plan<unknown, string>, 'gate' | 'lock' | 'load'>;
type Known = Omit<Loaded, 'now'>;

export interface Begun {
  loads: (Known | undefined)[];
  now: Date;
  /** What is still to be sent before any write. */
  opening: readonly Sql[];
  transaction: Transaction;
}

/** For `blind` plans: nothing is asked, or known of the transaction but who is going to run it. */
export function beginBlind(client: pg.PoolClient, plans: readonly Needs[], now: Date): Begun {
  return {
    loads: plans.map(({ load }) => ({ rows: rowsOf(load, []), locked: [] })),
    now,
    opening: [BEGIN, plans.length === 1 ? ALONE : TOGETHER],
    transaction: { pid: backendOf(client), begun: now },
  };
}

/**
 * Begins a transaction for all of the plans: their members are locked, what they load is read. Of
 * several, one whose members are not all free has no load.
 */
export async function begin(client: pg.PoolClient, plans: readonly Needs[]): Promise<Begun> {
  const head = plans.length === 1 ? headOf(plans[0]) : headOfMany(plans);
  const reads = gatherReads(plans.map(({ load }) => readsOf(load)));
  const statements = [BEGIN, ...head, ...reads.statements, NOW];
  const results = await pipeline(client, statements).catch(async (error: unknown) => {
    await rollBack(client);
    throw error;
  });
  const [clock] = results.pop() as unknown as { now: Date; xid: string }[];
  if (!clock) throw new Error('the clock did not answer');

  const rows = reads.deal(results.slice(1 + head.length));
  const found = plans.some(({ lock }) => lock) ? (results[head.length] ?? []) : [];
  const locked = found.map((row) => row.member_id as string);
  const loads = plans.map(({ load, lock = [] }, index): Known | undefined => {
    const own = { rows: rowsOf(load, rows[index] ?? []), locked };
    if (plans.length === 1) return own;
    const ids = lock as string[];
    return ids.every((id) => locked.includes(id)) ? { ...own, locked: ids } : undefined;
  });
  return { loads, now: clock.now, opening: [], transaction: { xid: clock.xid } };
}

function headOf(plan: Needs | undefined): Sql[] {
  const { gate, lock } = plan ?? {};
  return [ALONE, ...(gate ? [gate] : []), ...(lock ? [lockStatement(lock)] : [])];
}

/** `gatherable` plans alone: no gates, and members by their ids. */
function headOfMany(plans: readonly Needs[]): Sql[] {
  const ids = plans.flatMap(({ lock = [] }) => lock as string[]);
  return ids.length === 0 ? [TOGETHER] : [TOGETHER, lockFree(ids)];
}

function lockFree(ids: readonly string[]): Sql {
  return sql`SELECT member_id FROM feed_heads WHERE member_id = ANY(${ids}::uuid[])
    ORDER BY member_id FOR UPDATE SKIP LOCKED`;
}

function lockStatement(lock: readonly string[] | Sql): Sql {
  if (!('text' in lock))
    return sql`SELECT member_id FROM feed_heads WHERE member_id = ANY(${lock}::uuid[])
      ORDER BY member_id FOR UPDATE`;
  const text = `SELECT member_id FROM feed_heads WHERE member_id IN (${lock.text}) ORDER BY member_id FOR UPDATE`;
  return { name: `lock-${lock.name}`, text, values: lock.values };
}

/** What is left of a command's patience to ask what became of it, and the least that writing has, in ms. */
const ASKING_MS = 700;
const WRITING_MS = 200;
/** So much longer than its patience a command may take, in milliseconds: nobody waits 3 seconds. */
const OVERRUN_MS = 100;
/** With less than this left, in milliseconds, nothing is sent that would have to be asked about. */
export const NEEDED_MS = WRITING_MS + LEAST_MS - OVERRUN_MS;

/** How long writing may take where so much is left, in milliseconds. */
export const writingMs = (left: number): number => Math.max(WRITING_MS, left - ASKING_MS);

/**
 * Writes the statements of each command and commits. The server begins with the first while the rest
 * is made; `outcome` tells where COMMIT gets no answer. `until` is a `deadline`.
 */
export async function commit(
  client: pg.PoolClient,
  first: readonly Sql[],
  rest: () => readonly (readonly Sql[])[],
  outcome: () => Promise<boolean>,
  until: number,
): Promise<void> {
  if (until - performance.now() < NEEDED_MS) {
    await rollBack(client);
    throw new StorageUnavailable('too late to write');
  }
  const sending = openPipeline(client);
  let written: Promise<unknown>;
  try {
    if (first.length > 0) sending.send(first);
    written = sending.end([...mergeLists(rest()), COMMIT]);
  } catch (error) {
    // A value that cannot be sent: not to be asked about.
    await sending.end([ROLLBACK]).catch(() => undefined);
    throw error;
  }
  const timer = setTimeout(() => cut(client), writingMs(until - performance.now()));
  try {
    await written;
  } catch (error) {
    if (isServerError(error)) {
      await rollBack(client);
      throw isRace(error) ? new TryAgain('lost a race', { cause: error }) : error;
    }
    if (await outcome()) return;
    throw new StorageUnavailable('the transaction was not committed', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
