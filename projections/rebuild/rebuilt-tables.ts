import type pg from 'pg';
import { type Sql, sql } from '../../platform/sql.ts';
import type { Projection } from '../projection.ts';

const GRANTEE = `SELECT CASE WHEN item.grantee = 0 THEN 'PUBLIC'
  ELSE item.grantee::regrole::text END AS name`;

/** Replaces the public tables with the tables of the schema `rebuild`. */
export async function swapTables(client: pg.Client, tables: readonly string[]): Promise<void> {
  await copyPrivileges(client, tables);
  for (const table of tables) {
    await client.query(`DROP TABLE public.${table}`);
    await client.query(`ALTER TABLE rebuild.${table} SET SCHEMA public`);
  }
}

/**
 * LIKE copies no privileges, of tables or columns, and default privileges may grant some on every new
 * table.
 */
async function copyPrivileges(client: pg.Client, tables: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `WITH pairs AS (
       SELECT 'rebuild.' || mine.relname AS name,
         coalesce(theirs.relacl, acldefault('r', theirs.relowner)) AS wanted,
         coalesce(mine.relacl, acldefault('r', mine.relowner)) AS given
       FROM pg_class theirs JOIN pg_class mine USING (relname)
       WHERE theirs.relnamespace = 'public'::regnamespace AND relname = ANY($1)
         AND mine.relnamespace = 'rebuild'::regnamespace),
     changed AS (SELECT * FROM pairs WHERE wanted::text <> given::text),
     statements AS (
       SELECT DISTINCT 1 AS turn, 'REVOKE ALL ON ' || changed.name || ' FROM ' || grantee.name AS statement
       FROM changed, aclexplode(given) item, LATERAL (${GRANTEE}) grantee
       UNION SELECT 2, 'GRANT ' || privilege_type || ' ON ' || changed.name || ' TO ' || grantee.name
         || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
       FROM changed, aclexplode(wanted) item, LATERAL (${GRANTEE}) grantee
       UNION SELECT 2, 'GRANT ' || privilege_type || ' (' || quote_ident(attname) || ') ON rebuild.'
         || relname || ' TO ' || grantee.name
         || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
       FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid, aclexplode(attacl) item,
         LATERAL (${GRANTEE}) grantee
       WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1))
     SELECT statement FROM statements ORDER BY turn`,
    [tables],
  );
  for (const { statement } of rows) await client.query(statement);
}

/**
 * Creates empty copies of the tables in the schema `rebuild`. Returns the definitions of the search
 * indexes, for `makeSearches`.
 */
export async function makeTables(
  client: pg.Client,
  projections: readonly Projection[],
): Promise<string[]> {
  await client.query('DROP SCHEMA IF EXISTS rebuild CASCADE');
  await client.query('CREATE SCHEMA rebuild');
  return copyTables(client, projections, 'rebuild');
}

/** Creates empty copies of the tables that end with the session, without search indexes. */
export async function makeTemporaryTables(
  client: pg.Client,
  projections: readonly Projection[],
): Promise<void> {
  await copyTables(client, projections, 'pg_temp');
}

async function copyTables(
  client: pg.Client,
  projections: readonly Projection[],
  schema: 'rebuild' | 'pg_temp',
): Promise<string[]> {
  const tables = projections.flatMap((projection) => projection.tables);
  for (const table of tables)
    await client.query(
      `CREATE TABLE ${schema}.${table} (LIKE public.${table} INCLUDING ALL EXCLUDING INDEXES)`,
    );
  const searches = await makeIndexes(client, tables, schema);
  await client.query(`SET search_path = ${schema}, public`);
  for (const { table, columns } of projections.flatMap(({ texts }) => texts ?? []))
    for (const column of columns)
      await client.query(`ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0`);
  for (const statement of projections.flatMap(({ seed }) => seed ?? []))
    await client.query(statement.text, statement.values);
  return searches;
}

/**
 * Creates keys and indexes under the names that they have in `public`, by which migrations change
 * them; LIKE would name them anew. Leaves out the search indexes, which no projection uses to find
 * rows, and returns their definitions: to build them once on full tables costs a fraction.
 */
async function makeIndexes(
  client: pg.Client,
  tables: readonly string[],
  schema: string,
): Promise<string[]> {
  const { rows } = await client.query<{ definition: string; search: boolean }>(
    `SELECT am.amname <> 'btree' AS search,
       CASE WHEN k.oid IS NULL
         THEN regexp_replace(pg_get_indexdef(i.oid), ' ON (ONLY )?public\\.', ' ON ${schema}.')
         ELSE format('ALTER TABLE ${schema}.%I ADD CONSTRAINT %I %s',
           of.relname, k.conname, pg_get_constraintdef(k.oid)) END AS definition
     FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_am am ON am.oid = i.relam
       JOIN pg_class of ON of.oid = indrelid
       LEFT JOIN pg_constraint k ON k.conindid = i.oid AND k.conrelid = of.oid
     WHERE of.relnamespace = 'public'::regnamespace AND of.relname = ANY($1)`,
    [tables],
  );
  for (const { definition, search } of rows) if (!search) await client.query(definition);
  return rows.filter(({ search }) => search).map(({ definition }) => definition);
}

/** Creates the search indexes on the full tables. */
export async function makeSearches(
  client: pg.Client,
  definitions: readonly string[],
): Promise<void> {
  for (const definition of definitions) await client.query(definition);
  // The definition lacks this setting, without which ANALYZE samples the texts.
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER INDEX rebuild.%I ALTER COLUMN %s SET STATISTICS %s',
       i.relname, attnum, attstattarget) AS statement
     FROM pg_class i JOIN pg_attribute ON attrelid = i.oid
     WHERE i.relnamespace = 'public'::regnamespace AND i.relkind IN ('i', 'I') AND attstattarget >= 0
       AND to_regclass('rebuild.' || i.relname) IS NOT NULL`,
  );
  for (const { statement } of rows) await client.query(statement);
}

/** Drops the tables of a rebuild that did not finish, unless one is running. */
export const dropLeftOver = (): Sql => sql`SELECT drop_unfinished_rebuild()`;
