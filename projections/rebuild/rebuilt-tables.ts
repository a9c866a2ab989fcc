import type pg from 'pg';
import {
  createCopies,
  createIndexes,
  type Layout,
  layoutOf,
} from '../../platform/postgres/table-copies.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import type { Projection } from '../projection.ts';
import { HAS_MARK } from '../screening/fold-marks.ts';

/** The schema in which a rebuild fills its tables. */
export const SCHEMA = 'rebuild';

/**
 * The indexes, besides unique ones, by which projections find rows. Only these exist while the tables fill; a test plans
 * every statement of a projection with them.
 */
export const LOOKUP_INDEXES: readonly string[] = [
  'activity_of_subject',
  'artifacts_of_author',
  'case_notes_of_member',
  'case_reviews_of_member',
  'case_submissions_of_member',
  'cases_of_author',
  'credentials_of_member',
  'member_appeals_of_member',
  'member_decisions_of_member',
  'moderation_weeks_empty',
  'note_appeals_of_member',
  'note_appeals_of_note',
  'note_decisions_of_note',
  'note_findings_of_note',
  'note_fingerprints_of_note',
  'note_reports_exported',
  'note_reports_of_note',
  'notes_of_member',
  'record_decisions_of_author',
  'record_decisions_of_subject',
  'record_reports_of_author',
  'record_reports_of_member',
  'record_reports_of_subject',
  'record_reports_settled',
  'reported_records_to_end',
];

/**
 * Creates empty copies of the tables in the schema `rebuild`, partitioned as the tables are. Returns that layout, and the
 * definitions of the indexes that `makeIndexes` creates on the full tables.
 */
export async function makeTables(
  client: pg.Client,
  projections: readonly Projection[],
): Promise<{ layout: Layout; indexes: string[] }> {
  await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  await client.query(`CREATE SCHEMA ${SCHEMA}`);
  const layout = await layoutOf(
    client,
    projections.flatMap(({ tables }) => tables),
  );
  return { layout, indexes: await copyTables(client, projections, SCHEMA, layout) };
}

/** Creates empty copies of the tables that end with the session, with the indexes that projections need. */
export async function makeTemporaryTables(
  client: pg.Client,
  projections: readonly Projection[],
): Promise<void> {
  await copyTables(client, projections, 'pg_temp', new Map());
}

async function copyTables(
  client: pg.Client,
  projections: readonly Projection[],
  schema: typeof SCHEMA | 'pg_temp',
  layout: Layout,
): Promise<string[]> {
  const tables = projections.flatMap((projection) => projection.tables);
  await createCopies(client, tables, schema, layout);
  const later = await createIndexes(client, tables, schema, LOOKUP_INDEXES);
  await client.query(`SET search_path = ${schema}, public`);
  for (const { table, columns } of projections.flatMap(({ texts }) => texts ?? []))
    for (const column of columns)
      await client.query(`ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0`);
  for (const statement of projections.flatMap(({ seed }) => seed ?? []))
    await client.query(statement.text, statement.values);
  return later;
}

/** Creates the other indexes on the full tables. */
export async function makeIndexes(
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

/** Columns of read models that no event has: they are not compared with the log, and a rebuild copies them. */
export const UNLOGGED_COLUMNS: Readonly<Record<string, readonly string[]>> = { notes: ['fold_id'] };

/** Copies them to the tables of a rebuild, under the locks of the swap. */
export const copyUnlogged = (): Sql[] => [
  named(`UPDATE rebuild.notes made SET fold_id = n.fold_id FROM public.notes n
    WHERE ${HAS_MARK} AND made.note_id = n.note_id`),
];
