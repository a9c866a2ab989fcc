import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { byteUnits } from '../platform/byte-units.ts';
import { MIGRATIONS, planMigrations } from '../platform/postgres/migrate.ts';

/** What a migration does to tables that existed before it, until it is committed. */
export interface MigrationEffects {
  /** Tables that others can neither read nor write meanwhile. */
  blocks?: string[];
  /** Tables that others can read meanwhile, and not write. */
  blocksWrites?: string[];
  /** Tables whose rows it reads. */
  reads?: string[];
  /** Tables to which it adds rows, or whose rows it changes or deletes. */
  changes?: string[];
  /** Tables that are written anew. */
  rewrites?: string[];
  /** How many indexes it builds on a table. */
  indexes?: Record<string, number>;
}

/** Recorded by test/store/migration-effects.test.ts, which applies each migration and looks at its locks. */
const EFFECTS = join(MIGRATIONS, 'effects.json');

/**
 * Bytes of a table a second on two cores, with the table in memory. Which rows are changed is not known, so all are counted; their
 * indexes change too. See the figures in docs/operating/upgrades.md.
 */
const PACES = { read: 100e6, change: 3e6, rewrite: 50e6, index: 400e6 } as const;
/** A transaction that has run for so long will run on. */
const LONG_SECONDS = 10;

export const readEffects = (): Record<string, MigrationEffects> =>
  JSON.parse(readFileSync(EFFECTS, 'utf8'));

/** The lines about what a release would do. Changes nothing; throws where a release would refuse. */
export async function planRelease(client: pg.Client): Promise<string[]> {
  const pending = await planMigrations(client);
  if (pending.length === 0) return ['The schema is current: a release would apply no migration.'];
  const effects = readEffects();
  const sizes = await tableSizes(client);
  if (sizes.size === 0)
    return [`The database is empty: a release would apply all ${pending.length} migrations.`];
  const known = pending.map((name) => ({ name, effect: effects[name] ?? {} }));
  const blocks = known.some(({ effect }) => effect.blocks || effect.blocksWrites);
  return [
    `A release would apply ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'}, each in a transaction:`,
    ...known.map(({ name, effect }) => `  ${name}: ${describeEffect(effect, sizes)}`),
    ...(blocks ? await describeWaits(client) : []),
  ];
}

/** Says what a migration does to tables of such sizes, in bytes, and for how long. */
export function describeEffect(
  effect: MigrationEffects,
  sizes: ReadonlyMap<string, number>,
): string {
  const bytesOf = (table: string) => sizes.get(table) ?? 0;
  const named = (tables: readonly string[]) =>
    tables.map((table) => `${table} (${sizeText(bytesOf(table))})`).join(', ');
  const parts = [
    effect.blocks && `blocks reads and writes of ${named(effect.blocks)}`,
    effect.blocksWrites && `blocks writes of ${named(effect.blocksWrites)}`,
    effect.rewrites && `writes anew ${named(effect.rewrites)}`,
    effect.indexes && `builds indexes on ${named(Object.keys(effect.indexes))}`,
    effect.changes && `changes rows of ${named(effect.changes)}`,
    effect.reads && `reads ${named(effect.reads)}`,
  ].filter((part) => part !== undefined);
  const seconds = Math.ceil(secondsFor(effect, bytesOf));
  const time = seconds > 1 ? `, for up to about ${seconds} s` : ', for about a second at most';
  return parts.length === 0 ? 'blocks nothing' : `${parts.join('; ')}${time}`;
}

function secondsFor(
  { reads = [], changes = [], rewrites = [], indexes = {} }: MigrationEffects,
  bytesOf: (table: string) => number,
): number {
  const bytes = (tables: readonly string[]) =>
    tables.reduce((sum, table) => sum + bytesOf(table), 0);
  const indexed = Object.entries(indexes).reduce(
    (sum, [table, count]) => sum + count * bytesOf(table),
    0,
  );
  return (
    bytes(reads) / PACES.read +
    bytes(changes) / PACES.change +
    bytes(rewrites) / PACES.rewrite +
    indexed / PACES.index
  );
}

function sizeText(bytes: number): string {
  const { value, unit } = byteUnits(bytes);
  return `${Math.round(value)} ${unit}`;
}

/** The bytes of each table of the service, without its indexes; partitions count for their table. */
async function tableSizes(client: pg.ClientBase): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `SELECT coalesce(whole.relname, c.relname) AS name, sum(pg_table_size(c.oid)) AS bytes
     FROM pg_class c LEFT JOIN pg_inherits ON inhrelid = c.oid LEFT JOIN pg_class whole ON whole.oid = inhparent
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY 1`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** Who would keep a migration that blocks others waiting, while everything else waits behind it. */
async function describeWaits(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ pid: number; name: string; seconds: string }>(
    `SELECT pid, application_name AS name, round(extract(epoch FROM clock_timestamp() - xact_start)) AS seconds
     FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND xact_start < clock_timestamp() - make_interval(secs => $1) ORDER BY xact_start`,
    [LONG_SECONDS],
  );
  return rows.map(
    ({ pid, name, seconds }) =>
      `Process ${pid} (${name || 'without a name'}) has been in a transaction for ${seconds} s: what blocks may wait for it, and commands behind it.`,
  );
}
