import type pg from 'pg';
import { pipeline } from '../pipeline.ts';
import { isServerError, StorageUnavailable } from '../postgres.ts';
import { mergeLists } from './merge.ts';
import type { Loaded, Plan } from './plan.ts';
import { gatherReads } from './reads.ts';
import { type Sql, sql } from './sql.ts';

export class TryAgain extends Error {}

const BEGIN = sql`BEGIN`;
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
type Load = Omit<Loaded, 'now'>;

/**
 * Begins a transaction for all of the plans: their members are locked, what they load is read. Of
 * several, one whose members are not all free has no load.
 */
export async function begin(
  client: pg.PoolClient,
  plans: readonly Needs[],
): Promise<{ loads: (Load | undefined)[]; now: Date; xid: string }> {
  const head = plans.length === 1 ? headOf(plans[0]) : headOfMany(plans);
  const reads = gatherReads(plans.map(({ load }) => load));
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
  const loads = plans.map(({ lock = [] }, index): Load | undefined => {
    const own = { rows: rows[index] as never[][], locked };
    if (plans.length === 1) return own;
    const ids = lock as string[];
    return ids.every((id) => locked.includes(id)) ? { ...own, locked: ids } : undefined;
  });
  return { loads, ...clock };
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

/** Writes the statements of each command and commits; `outcome` tells where COMMIT gets no answer. */
export async function commit(
  client: pg.PoolClient,
  lists: readonly (readonly Sql[])[],
  outcome: () => Promise<boolean>,
): Promise<void> {
  // Thrown at once, and not to be asked about, where a value cannot be sent.
  const written = pipeline(client, [...mergeLists(lists), COMMIT]);
  try {
    await written;
  } catch (error) {
    if (isServerError(error)) {
      await rollBack(client);
      throw isRace(error) ? new TryAgain('lost a race', { cause: error }) : error;
    }
    if (await outcome()) return;
    throw new StorageUnavailable('the transaction was not committed', { cause: error });
  }
}

/** At once: the driver tells of an error before it knows that the transaction is open. */
async function rollBack(client: pg.PoolClient): Promise<void> {
  await client.query('ROLLBACK').catch(() => undefined);
}

/** A unique index, a deadlock or a serialization failure: decide again on what the winner left. */
function isRace(error: unknown): boolean {
  return ['23505', '40P01', '40001'].includes((error as { code?: string }).code ?? '');
}
