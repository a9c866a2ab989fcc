import type pg from 'pg';
import { readEngine } from './engine.ts';

/** How a table is divided into partitions: by the hash of a column. */
export interface Partitioning {
  column: string;
  parts: number;
}

export type Layout = ReadonlyMap<string, Partitioning>;

interface Divided {
  table: string;
  column: string | null;
  parts: number;
  /** Whether it is divided by the hash of one column, with partitions of equal size that have no partitions again. */
  known: boolean;
}

/**
 * The partitioning of those tables in `public` that have one. Throws if a table is divided in another way than
 * `npm run release -- --partition` divides it, because a copy would not be.
 */
export async function layoutOf(client: pg.ClientBase, tables: readonly string[]): Promise<Layout> {
  const { rows } = await client.query<Divided>(
    `SELECT c.relname AS table, attname AS column, count(part.oid)::int AS parts,
       partstrat = 'h' AND partnatts = 1 AND count(part.oid) > 0 AND bool_and(part.relkind = 'r'
         AND pg_get_expr(part.relpartbound, part.oid) LIKE '%(modulus ' || count || ',%') AS known
     FROM pg_partitioned_table JOIN pg_class c ON c.oid = partrelid
       LEFT JOIN pg_attribute ON attrelid = c.oid AND attnum = partattrs[0] AND attnum > 0
       LEFT JOIN pg_inherits ON inhparent = c.oid LEFT JOIN pg_class part ON part.oid = inhrelid,
       LATERAL (SELECT count(*) FROM pg_inherits WHERE inhparent = c.oid) counted (count)
     WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY($1)
     GROUP BY c.oid, attname, partstrat, partnatts`,
    [tables],
  );
  const other = rows.find(({ known, column }) => !known || column === null);
  if (other)
    throw new Error(
      `The table ${other.table} is partitioned in another way than npm run release -- --partition does it`,
    );
  return new Map(rows.map(({ table, column, parts }) => [table, { column: column ?? '', parts }]));
}

/** A partition is named `TABLE_pNUMBER`. The rows of one owner have one number in all tables with as many. */
const partitionNames = (table: string, { parts }: Partitioning): string[] =>
  Array.from({ length: parts }, (_, number) => `${table}_p${number}`);

/** Creates empty copies of public tables in another schema, without indexes, privileges and triggers. */
export async function createCopies(
  client: pg.ClientBase,
  tables: readonly string[],
  schema: string,
  layout: Layout,
): Promise<void> {
  for (const table of tables) {
    const divided = layout.get(table);
    await client.query(
      `CREATE TABLE ${schema}.${table} (LIKE public.${table} INCLUDING ALL EXCLUDING INDEXES)
       ${divided ? `PARTITION BY HASH (${divided.column})` : ''}`,
    );
    for (const [number, name] of divided ? partitionNames(table, divided).entries() : [])
      await client.query(
        `CREATE TABLE ${schema}.${name} PARTITION OF ${schema}.${table}
         FOR VALUES WITH (MODULUS ${divided?.parts}, REMAINDER ${number})`,
      );
  }
}

/**
 * Creates keys and indexes under the names that they have in `public`, by which migrations change
 * them; LIKE would name them anew. Creates the unique indexes and those of `first`, and returns the
 * definitions of the others: to build them once on full tables costs a fraction.
 */
export async function createIndexes(
  client: pg.ClientBase,
  tables: readonly string[],
  schema: string,
  first: readonly string[] = [],
): Promise<string[]> {
  const { rows } = await client.query<{ definition: string; later: boolean }>(
    `SELECT NOT indisunique AND i.relname <> ALL ($2) AS later,
       CASE WHEN k.oid IS NULL
         THEN regexp_replace(pg_get_indexdef(i.oid), ' ON (ONLY )?public\\.', ' ON ${schema}.')
         ELSE format('ALTER TABLE ${schema}.%I ADD CONSTRAINT %I %s',
           of.relname, k.conname, pg_get_constraintdef(k.oid)) END AS definition
     FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_class of ON of.oid = indrelid
       LEFT JOIN pg_constraint k ON k.conindid = i.oid AND k.conrelid = of.oid
     WHERE of.relnamespace = 'public'::regnamespace AND of.relname = ANY($1)`,
    [tables, first],
  );
  for (const { definition, later } of rows) if (!later) await client.query(definition);
  return rows.filter(({ later }) => later).map(({ definition }) => definition);
}

/** Those of the public tables that are distributed over the nodes of a cluster, each with the column that holds the owner. */
export async function distributedTables(
  client: pg.ClientBase,
  tables: readonly string[],
): Promise<Map<string, string>> {
  const { distributed } = await readEngine(client);
  if (!distributed) return new Map();
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT relname AS table, distribution_column AS column
     FROM citus_tables JOIN pg_class ON pg_class.oid = table_name
     WHERE citus_table_type = 'distributed' AND relnamespace = 'public'::regnamespace
       AND relname = ANY($1)`,
    [tables],
  );
  return new Map(rows.map(({ table, column }) => [table, column]));
}

/**
 * Distributes the copies in a schema like the log, on the same nodes. Full ones: to fill tables that are distributed takes
 * ten times as long. Empties the files that the copies had on the coordinator.
 */
export async function distributeCopies(
  client: pg.ClientBase,
  tables: ReadonlyMap<string, string>,
  schema: string,
): Promise<void> {
  for (const [table, column] of tables) {
    const copy = `${schema}.${table}`;
    await client.query(
      `SELECT create_distributed_table('${copy}', '${column}', colocate_with => 'public.events')`,
    );
    await client.query(`SELECT truncate_local_data_after_distributing_table('${copy}')`);
  }
}

const GRANTEE = `SELECT CASE WHEN item.grantee = 0 THEN 'PUBLIC'
  ELSE item.grantee::regrole::text END AS name`;

/**
 * Gives the copies in a schema the privileges of the public tables. LIKE copies none, of tables or columns, and default
 * privileges may grant some on every new table.
 */
async function copyPrivileges(
  client: pg.ClientBase,
  tables: readonly string[],
  schema: string,
): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `WITH pairs AS (
       SELECT $2 || '.' || mine.relname AS name,
         coalesce(theirs.relacl, acldefault('r', theirs.relowner)) AS wanted,
         coalesce(mine.relacl, acldefault('r', mine.relowner)) AS given
       FROM pg_class theirs JOIN pg_class mine USING (relname)
       WHERE theirs.relnamespace = 'public'::regnamespace AND relname = ANY($1)
         AND mine.relnamespace = $2::regnamespace),
     changed AS (SELECT * FROM pairs WHERE wanted::text <> given::text),
     statements AS (
       SELECT DISTINCT 1 AS turn, 'REVOKE ALL ON ' || changed.name || ' FROM ' || grantee.name AS statement
       FROM changed, aclexplode(given) item, LATERAL (${GRANTEE}) grantee
       UNION SELECT 2, 'GRANT ' || privilege_type || ' ON ' || changed.name || ' TO ' || grantee.name
         || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
       FROM changed, aclexplode(wanted) item, LATERAL (${GRANTEE}) grantee
       UNION SELECT 2, 'GRANT ' || privilege_type || ' (' || quote_ident(attname) || ') ON ' || $2 || '.'
         || relname || ' TO ' || grantee.name
         || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
       FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid, aclexplode(attacl) item,
         LATERAL (${GRANTEE}) grantee
       WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1))
     SELECT statement FROM statements ORDER BY turn`,
    [tables, schema],
  );
  for (const { statement } of rows) await client.query(statement);
}

/** Replaces the public tables with their copies in a schema, under the same privileges. */
export async function swapTables(
  client: pg.ClientBase,
  tables: readonly string[],
  schema: string,
  layout: Layout,
): Promise<void> {
  await copyPrivileges(client, tables, schema);
  for (const table of tables) {
    const divided = layout.get(table);
    const parts = divided ? partitionNames(table, divided) : [];
    await client.query(`DROP TABLE public.${table}`);
    for (const name of [table, ...parts])
      await client.query(`ALTER TABLE ${schema}.${name} SET SCHEMA public`);
    if (divided) await namePartitionIndexes(client, table);
  }
}

/** Names the index of a partition after the table's: `events_audit_p3` is that of `events_audit`. */
async function namePartitionIndexes(client: pg.ClientBase, table: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER INDEX %s RENAME TO %I', index.indexrelid::regclass,
       whole.relname || substr(part.relname, length($1) + 1)) AS statement
     FROM pg_index owned JOIN pg_class whole ON whole.oid = owned.indexrelid
     JOIN pg_inherits ON inhparent = owned.indexrelid JOIN pg_index index ON index.indexrelid = inhrelid
     JOIN pg_class part ON part.oid = index.indrelid
     WHERE owned.indrelid = ('public.' || quote_ident($1))::regclass`,
    [table],
  );
  for (const { statement } of rows) await client.query(statement);
}
