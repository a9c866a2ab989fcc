import type pg from 'pg';
import { takeAdvisoryLock } from '../platform/postgres/advisory-lock.ts';
import { rollBack } from '../platform/postgres/connection.ts';
import { readEngine } from '../platform/postgres/engine.ts';
import {
  createCopies,
  createIndexes,
  type Layout,
  layoutOf,
  swapTables,
} from '../platform/postgres/table-copies.ts';
import { requireNoProcess } from './connected-processes.ts';

/** The tables that grow without bound, each with the column that holds the owner of a row. */
export const OWNED_TABLES = {
  events: 'owner_id',
  receipts: 'owner_id',
  feed: 'member_id',
  feed_heads: 'member_id',
} as const;

export const PARTITIONS = 8;
export const MIN_PARTITIONS = 2;
export const MAX_PARTITIONS = 64;

const NAMES = Object.keys(OWNED_TABLES) as (keyof typeof OWNED_TABLES)[];
/** It exists within one transaction only. */
const SCHEMA = 'service_partitioning';
const LOCK_PATIENCE_MS = 10_000;

/** The owned tables that are partitioned in `public`, in the order of `OWNED_TABLES`. */
export async function partitionedTables(client: pg.ClientBase): Promise<string[]> {
  const layout = await layoutOf(client, NAMES);
  return NAMES.filter((name) => layout.has(name));
}

/**
 * Collects the statistics of the partitioned tables as a whole, which autovacuum collects of each partition alone. Before
 * PostgreSQL 18 that includes those of the partitions.
 */
export async function analysePartitioned(
  client: pg.ClientBase,
  tables: readonly string[],
): Promise<void> {
  if (tables.length === 0) return;
  const { rows } = await client.query<{ only: boolean }>(
    `SELECT current_setting('server_version_num')::int >= 180000 AS only`,
  );
  await analyse(client, tables, rows[0]?.only ? 'ONLY ' : '');
}

/** Not of empty tables: PostgreSQL takes a table without statistics for larger than one that was found empty. */
async function analyse(client: pg.ClientBase, tables: readonly string[], only: string) {
  for (const table of tables) {
    const { rowCount } = await client.query(`SELECT FROM ${table} LIMIT 1`);
    if (rowCount) await client.query(`ANALYZE ${only}${table}`);
  }
}

/**
 * Partitions those of the four tables that are not, by the hash of their owner: copies their rows into partitions and drops
 * the former tables, in one transaction, during which nothing else can use them. Returns their names. Throws
 * if the tables are distributed, if processes of the service or another transaction use them, or if others are divided into
 * another number.
 */
export async function partitionTables(
  client: pg.ClientBase,
  parts: number,
  tell: (line: string) => void = () => undefined,
): Promise<string[]> {
  const { distributed } = await readEngine(client);
  if (distributed)
    throw new Error(
      'The tables are distributed over the nodes of a cluster: their shards are their parts',
    );
  const present = await layoutOf(client, NAMES);
  for (const [table, divided] of present)
    if (divided.parts !== parts)
      throw new Error(
        `The table ${table} has ${divided.parts} partitions, and their number cannot be changed to ${parts}`,
      );
  const tables = NAMES.filter((name) => !present.has(name));
  if (tables.length === 0) return [];
  await requireNoProcess(client, 'Tables are partitioned');
  // A rebuild that has begun would replace the tables by ones of the former layout.
  await takeAdvisoryLock(client, 'rebuild', { tell });
  try {
    await client.query('BEGIN');
    await lockTables(client, tables);
    // A process may have connected and read before the locks.
    await client.query('SELECT pg_stat_clear_snapshot()');
    await requireNoProcess(client, 'Tables are partitioned');
    await replaceTables(
      client,
      tables,
      new Map(tables.map((table) => [table, { column: OWNED_TABLES[table], parts }])),
      tell,
    );
    await client.query('COMMIT');
  } catch (error) {
    await rollBack(client);
    throw error;
  }
  await analyse(client, tables, '');
  return tables;
}

async function lockTables(client: pg.ClientBase, tables: readonly string[]): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${LOCK_PATIENCE_MS}`);
  try {
    await client.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  } catch (error) {
    if ((error as { code?: unknown }).code !== '55P03') throw error;
    throw new Error(
      'Another transaction, such as that of a backup, uses the tables: try again when it has ended',
      { cause: error },
    );
  }
  // Copying and indexing take as long as they take.
  await client.query('SET LOCAL statement_timeout = 0');
}

async function replaceTables(
  client: pg.ClientBase,
  tables: readonly string[],
  layout: Layout,
  tell: (line: string) => void,
): Promise<void> {
  const views = await viewsOn(client, tables);
  const grants = await grantsOn(
    client,
    views.map(({ name }) => name),
    tables,
  );
  const definitions = await definitionsOf(client, tables);
  await client.query(`CREATE SCHEMA ${SCHEMA}`);
  await createCopies(client, tables, SCHEMA, layout);
  for (const table of tables) {
    const { rows } = await client.query<{ size: string }>(
      'SELECT pg_size_pretty(pg_total_relation_size($1)) AS size',
      [`public.${table}`],
    );
    tell(`Copying ${table} (${rows[0]?.size})`);
    await client.query(
      `INSERT INTO ${SCHEMA}.${table} OVERRIDING SYSTEM VALUE SELECT * FROM public.${table}`,
    );
  }
  await continueSequences(client, tables);
  tell('Creating the indexes');
  for (const definition of await createIndexes(client, tables, SCHEMA))
    await client.query(definition);
  for (const { name } of views) await client.query(`DROP VIEW public.${name}`);
  await swapTables(client, tables, SCHEMA, layout);
  await client.query(`DROP SCHEMA ${SCHEMA}`);
  for (const { definition } of views) definitions.push(definition);
  for (const statement of [...definitions, ...grants]) await client.query(statement);
  await guardPartitions(client, tables);
}

/** Makes the copies go on counting where the public tables are. */
async function continueSequences(client: pg.ClientBase, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ sequence: string; copy: string }>(
    `SELECT pg_get_serial_sequence('public.' || relname, attname) AS sequence,
       pg_get_serial_sequence('${SCHEMA}.' || relname, attname) AS copy
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1) AND attidentity <> ''`,
    [tables],
  );
  for (const { sequence, copy } of rows)
    await client.query(`SELECT setval('${copy}', last_value, is_called) FROM ${sequence}`);
}

/** The statements that make the views again which read one of the tables. */
async function viewsOn(client: pg.ClientBase, tables: readonly string[]) {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT quote_ident(relname) AS name,
       format('CREATE VIEW public.%I AS %s', relname, pg_get_viewdef(oid)) AS definition
     FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace
       AND oid IN (SELECT ev_class FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid
         WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
           AND refobjid IN (SELECT unnest($1::text[])::regclass))`,
    [tables.map((table) => `public.${table}`)],
  );
  return rows;
}

/** The statements that grant again what is granted on views, and on the sequences that a table owns. */
async function grantsOn(
  client: pg.ClientBase,
  views: readonly string[],
  tables: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('GRANT %s ON %s public.%I TO %s', privilege_type,
       CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, relname,
       CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END) AS statement
     FROM pg_class, aclexplode(relacl)
     WHERE grantee <> relowner AND relnamespace = 'public'::regnamespace
       AND (relkind = 'v' AND quote_ident(relname) = ANY($1)
         OR relkind = 'S' AND pg_class.oid IN (SELECT objid FROM pg_depend
           WHERE classid = 'pg_class'::regclass AND deptype = 'i' AND refobjid = ANY($2::regclass[])))`,
    [views, tables.map((table) => `public.${table}`)],
  );
  return rows.map(({ statement }) => statement);
}

/** The statements that make the triggers and statistics targets of the tables again. */
async function definitionsOf(client: pg.ClientBase, tables: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ definition: string }>(
    `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger
     WHERE tgrelid = ANY($1::regclass[]) AND NOT tgisinternal
     UNION ALL SELECT format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', attrelid::regclass,
       attname, attstattarget) FROM pg_attribute
     WHERE attrelid = ANY($1::regclass[]) AND attnum > 0 AND attstattarget >= 0`,
    [tables.map((table) => `public.${table}`)],
  );
  return rows.map(({ definition }) => definition);
}

/** PostgreSQL gives partitions the triggers for rows, and not those for statements, such as TRUNCATE. */
async function guardPartitions(client: pg.ClientBase, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ definition: string }>(
    `SELECT replace(pg_get_triggerdef(pg_trigger.oid), format(' ON public.%I ', whole.relname),
       format(' ON public.%I ', part.relname)) AS definition
     FROM pg_trigger JOIN pg_class whole ON whole.oid = tgrelid
     JOIN pg_inherits ON inhparent = tgrelid JOIN pg_class part ON part.oid = inhrelid
     WHERE tgrelid = ANY($1::regclass[]) AND NOT tgisinternal AND tgtype & 1 = 0`,
    [tables.map((table) => `public.${table}`)],
  );
  for (const { definition } of rows) await client.query(definition);
}
