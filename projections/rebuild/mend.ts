import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { SERVICE_OWNER } from '../../domain/owners.ts';
import { ReadModelsMended } from '../../domain/proving/events.ts';
import { appendStatement } from '../../platform/eventstore/append.ts';
import type { EventCatalogue, RecordedEvent } from '../../platform/eventstore/event.ts';
import { createLogWatch } from '../../platform/eventstore/log-watch.ts';
import { addressConfig, withConnection } from '../../platform/postgres/connection.ts';
import { appliedMigrations } from '../../platform/postgres/migrate.ts';
import { pipeline } from '../../platform/postgres/pipeline.ts';
import { type Waiting, withLocks } from '../../platform/postgres/table-locks.ts';
import type { Projection } from '../projection.ts';
import type { Difference, KeyColumn } from './compare-tables.ts';
import { inProvingSession, type Proof, type ProveOptions, type ProvingSession } from './prove.ts';
import { type MendedTable, mendedTables, type Replaced, replaceRows } from './replace-rows.ts';

/** Rows that are replaced in one transaction, which keeps all writers waiting. */
const MAX_BATCH_ROWS = 200;
/** A row that a command writes meanwhile from one that differs is found by the next comparison. */
const MAX_COMPARISONS = 10;
/** The stream of what an operator did to the whole service. */
export const OPERATIONS_STREAM = 'operations';
const NOT_OWNER =
  'Only the role that owns the tables can mend them: connect as the owner (docs/operating/roles.md)';
const SCHEMA_CHANGED =
  'The schema was changed meanwhile, so the rest was not mended: run the command again';

export interface MendOptions extends Omit<ProveOptions, 'found'> {
  /** Called for each row once it is replaced, in a committed transaction. */
  mended?: (difference: Difference) => void;
  /** Called for each row that is left, because the erasure of an account has not ended. */
  left?: (difference: Difference) => void;
  /** Called once, with the blocking processes, when a transaction first waits long for others. */
  waits?: (pids: readonly number[]) => void;
}

export interface Mended {
  /** Rows that were replaced. */
  mended: number;
  /** The tables with such rows. */
  mendedTables: string[];
  /** When the last comparison began, and what it found after everything was replaced. */
  comparedAt: Date;
  proof: Proof;
}

/**
 * Compares every read model with the log like `proveReadModels`, and replaces just the rows that differ, while the
 * service runs: see docs/operating/live-proof.md. Each transaction replaces some rows and records that as an event.
 * Then compares again, until nothing differs or nothing more can be replaced. Throws, and changes nothing, if
 * the role does not own the tables or acknowledged writes are missing from the log.
 */
export async function mendReadModels(
  url: string,
  catalogue: EventCatalogue,
  projections: readonly Projection[],
  options: MendOptions = {},
): Promise<Mended> {
  const tables = projections.flatMap((projection) => projection.tables);
  await withConnection(addressConfig(url, 'service verify'), (client) =>
    requireMendable(client, ['events', ...tables]),
  );
  const { left = () => undefined } = options;
  let found: Difference[] = [];
  const collect = { ...options, found: (difference: Difference) => void found.push(difference) };
  return inProvingSession(url, catalogue, projections, collect, async (session) => {
    const mend = await createMender(session, catalogue, projections, options);
    let mended = 0;
    const mendedTables = new Set<string>();
    for (let comparisons = 1; ; comparisons++) {
      found = [];
      const comparedAt = new Date();
      const proof = await session.proveAll();
      const replaced =
        comparisons < MAX_COMPARISONS ? await mend(found) : { mended: [], left: found };
      mended += replaced.mended.length;
      for (const { table } of replaced.mended) mendedTables.add(table);
      if (replaced.mended.length > 0) continue;
      replaced.left.forEach(left);
      return { mended, mendedTables: [...mendedTables], comparedAt, proof };
    }
  });
}

async function requireMendable(client: pg.Client, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ owned: boolean }>(
    `SELECT bool_and(pg_has_role(relowner, 'USAGE')) AS owned FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1)`,
    [tables],
  );
  if (!rows[0]?.owned) throw new Error(NOT_OWNER);
  let loss: string | undefined;
  await createLogWatch((line) => {
    loss = line;
  }).onConnect(client);
  if (loss) throw new Error(loss);
}

/** Returns a function that replaces rows in batches. */
async function createMender(
  session: ProvingSession,
  catalogue: EventCatalogue,
  projections: readonly Projection[],
  { mended = () => undefined, waits = () => undefined }: MendOptions,
) {
  const { client, reader } = session;
  const tables = await mendedTables(
    client,
    projections.flatMap(({ texts = [] }) => texts),
  );
  const migrations = () => appliedMigrations((text) => client.query(text));
  const expected = await migrations();
  let waited = false;
  const waiting: Waiting = {
    // After the locks, so that the statements see what the last writer left, also if the role has another isolation level.
    begin: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
    meanwhile: session.catchUp,
    tell(pids) {
      if (!waited) waits(pids);
      waited = true;
    },
  };

  async function mendBatch(differences: readonly Difference[]): Promise<Replaced> {
    const byTable = Map.groupBy(differences, ({ table }) => table);
    const names = [...byTable.keys()];
    await session.catchUp();
    const { position, replaced } = await withLocks(
      client,
      reader,
      locksOn(names, differences),
      async () => {
        if (!isDeepStrictEqual(await migrations(), expected)) throw new Error(SCHEMA_CHANGED);
        const position = await session.catchUpInTransaction();
        const replaced: Replaced = { mended: [], left: [] };
        for (const [name, rows] of byTable) {
          const keys = rows.map(({ key }) => key);
          const of = await replaceRows(client, tables.get(name) as MendedTable, keys);
          replaced.mended.push(...of.mended);
          replaced.left.push(...of.left);
        }
        if (replaced.mended.length > 0) await record(client, catalogue, tables, position, replaced);
        return { position, replaced };
      },
      waiting,
    );
    session.committedUpTo(position);
    return replaced;
  }

  return async (differences: readonly Difference[]): Promise<Replaced> => {
    const all: Replaced = { mended: [], left: [] };
    for (let at = 0; at < differences.length; at += MAX_BATCH_ROWS) {
      const replaced = await mendBatch(differences.slice(at, at + MAX_BATCH_ROWS));
      all.mended.push(...replaced.mended);
      all.left.push(...replaced.left);
      replaced.mended.forEach(mended);
    }
    return all;
  };
}

/**
 * Locks members like a command, then the log and the tables against every writer. Appends hold a lock on the log
 * until they end, so none is under way then, whichever owners its rows have. Readers do not wait.
 */
function locksOn(tables: readonly string[], differences: readonly Difference[]): string[] {
  const members = differences.flatMap(({ table, key }) =>
    table === 'feed_heads' ? (key.member_id ?? []) : [],
  );
  const heads = `SELECT FROM public.feed_heads WHERE member_id = ANY('{${members}}') ORDER BY member_id FOR UPDATE`;
  return [
    ...(members.length > 0 ? [heads] : []),
    'LOCK TABLE public.events IN SHARE ROW EXCLUSIVE MODE',
    `LOCK TABLE ${tables.map((table) => `public.${table}`).join(', ')} IN SHARE ROW EXCLUSIVE MODE`,
  ];
}

/** Appends the event to the log, which is locked, in the current transaction. */
async function record(
  client: pg.Client,
  catalogue: EventCatalogue,
  tables: ReadonlyMap<string, MendedTable>,
  position: number,
  { mended }: Replaced,
): Promise<void> {
  const { rows } = await client.query<{ version: number; now: Date }>(
    `SELECT coalesce(max(stream_version), 0) + 1 AS version, clock_timestamp() AS now
     FROM public.events WHERE owner_id = $1 AND stream_id = $2`,
    [SERVICE_OWNER.id, OPERATIONS_STREAM],
  );
  const [next] = rows;
  if (!next) throw new Error('The database returned no version');
  const event = {
    type: ReadModelsMended.type,
    data: {
      position,
      tables: [...Map.groupBy(mended, ({ table }) => table)].map(([table, of]) => ({
        table,
        ...countKinds(of),
        keys: of.map((difference) => recordedKey(difference, tables.get(table)?.key ?? [])),
      })),
    },
    personal: null,
    owner_id: SERVICE_OWNER.id,
    stream_id: OPERATIONS_STREAM,
    stream_version: next.version,
    position: 0,
    event_id: uuidv7(),
    actor: { type: 'operator' },
    recorded_at: next.now,
  } satisfies RecordedEvent;
  catalogue.check(event);
  await pipeline(client, [appendStatement(event)]);
}

const countKinds = (differences: readonly Difference[]) => {
  const count = (of: Difference['kind']) => differences.filter(({ kind }) => kind === of).length;
  return { changed: count('changed'), missing: count('missing'), surplus: count('surplus') };
};

/** Types whose values are no words. */
const WORDLESS = ['uuid', 'integer', 'bigint', 'date', 'timestamp with time zone'];

/**
 * The part of a key that the log may keep for good: no hash, which an erasure deletes, and no text of a row that the
 * log does not have, since a hand can have written anything there.
 */
function recordedKey({ kind, key }: Difference, columns: readonly KeyColumn[]) {
  const kept = columns.filter(
    ({ name, type }) => name !== 'hash' && (kind !== 'surplus' || WORDLESS.includes(type)),
  );
  return Object.fromEntries(kept.map(({ name }) => [name, key[name] ?? '']));
}
