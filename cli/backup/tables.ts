import type pg from 'pg';
import { JOBS_SCHEMA, RESTORE_MARK, readMigrations } from '../../platform/postgres/migrate.ts';

/** The jobs that wait, with what they refer to. The rest of the schema is made anew by a release. */
const JOB_TABLES = ['queue', 'schedule', 'subscription', 'job', 'job_dependency'].map(
  (table) => `${JOBS_SCHEMA}.${table}`,
);

/** A release makes the first; the second has what a few processes may still ask for (platform/eventstore/write-marks.ts). */
const LEFT_OUT = ['schema_migrations', 'write_marks'];

const TABLES = `SELECT c.oid::regclass::text AS name,
    array_agg(quote_ident(attname) ORDER BY attnum) AS columns
  FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    AND attgenerated = ''
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND (c.relnamespace = 'public'::regnamespace AND c.relname <> ALL(ARRAY[${LEFT_OUT.map((name) => `'${name}'`).join(', ')}])
      AND c.oid IS DISTINCT FROM to_regclass('${RESTORE_MARK}')
      OR c.oid::regclass::text = ANY($1))
  GROUP BY c.oid ORDER BY array_position($1, c.oid::regclass::text) NULLS FIRST, name`;

/** A table and its columns, as SQL spells them. */
export interface Table {
  name: string;
  columns: string[];
}

/** The tables of a database that belong into a backup, in the order in which they are loaded. */
export async function tablesOf(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(TABLES, [JOB_TABLES]);
  return rows;
}

/** The names of the tables that the migrations of this release make, without those of the job queue. */
export function releaseTables(): string[] {
  const tables = new Set<string>();
  for (const { sql } of readMigrations())
    for (const [, made, dropped] of sql.matchAll(
      /^(?:CREATE TABLE (?:IF NOT EXISTS )?|DROP TABLE (?:IF EXISTS )?(?=(\w+)))(\w+)/gm,
    ))
      if (made === undefined) tables.add(dropped ?? '');
      else tables.delete(made);
  return [...tables].filter((name) => !LEFT_OUT.includes(name));
}

/**
 * The tables of a database that belong into a backup, and the names of others in `public`, which no migration
 * made. Throws if one of the release is missing, as with tables in another schema.
 */
export async function findTables(
  client: pg.ClientBase,
): Promise<{ tables: Table[]; others: string[] }> {
  const found = await tablesOf(client);
  const expected = new Set([...releaseTables(), ...JOB_TABLES]);
  const missing = [...expected].filter((name) => !found.some((table) => table.name === name));
  if (missing.length > 0)
    throw new Error(
      `The database lacks the tables ${missing.join(', ')}, so a backup would as well`,
    );
  return {
    tables: found.filter(({ name }) => expected.has(name)),
    others: found.map(({ name }) => name).filter((name) => !expected.has(name)),
  };
}

/** The file of a table in the folder of a backup. */
export const fileOf = (table: string): string => `${table}.copy.gz.sealed`;

/**
 * Throws if a backup has other tables or columns than the release. What the backup says goes into statements
 * only after this check, because anyone who can write where backups lie can write a manifest.
 */
export function requireSameTables(backup: readonly Table[], release: readonly Table[]): void {
  const ofRelease = new Map(release.map(({ name, columns }) => [name, columns]));
  const names = backup.map(({ name }) => name);
  const missing = [...ofRelease.keys()].filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`The backup lacks the tables ${missing.join(', ')}`);
  for (const [index, { name, columns }] of backup.entries()) {
    const known = ofRelease.get(name);
    if (!known || names.indexOf(name) !== index)
      throw new Error(`The backup has a table that this release does not have: ${show(name)}`);
    if (!isSameSet(columns, known))
      throw new Error(
        `The table ${name} of the backup has the columns ${show(columns.join(', '))}, not ${known.join(', ')}`,
      );
  }
}

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && new Set([...some, ...others]).size === others.length;

const show = (text: string): string => JSON.stringify(text.slice(0, 200));
