import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { type LockWait, withAdvisoryLock } from './advisory-lock.ts';
import { addressConfig, rollBack, withConnection } from './connection.ts';
import { requireSettings, setPlannerSettings } from './database-settings.ts';
import { isPooled } from './pooler.ts';

export const MIGRATIONS = join(import.meta.dirname, '../../migrations');
export const JOBS_SCHEMA = 'pgboss';

type Migration = { version: number; name: string; sql: string; checksum: string };
type Applied = { version: number; name: string; checksum: string };
type Query = (text: string) => Promise<{ rows: unknown[] }>;

export interface MigrateOptions extends LockWait {
  folder?: string;
  /** Whether a restore calls, which has noted that it is unfinished. */
  restoring?: boolean;
}

/**
 * Applies pending migrations, forward only, and returns their names; also sets how the role's
 * statements are planned. Any number of processes may
 * call it concurrently: an advisory lock serializes them, and the later ones find nothing to do.
 * Throws if the database has a migration that this code lacks or that differs from this code's, and if a
 * pooler is in between, which would keep the lock.
 */
export async function migrate(
  url: string,
  { folder = MIGRATIONS, restoring = false, ...wait }: MigrateOptions = {},
): Promise<string[]> {
  return withConnection(addressConfig(url, 'migrate'), async (client) => {
    await requireMigratable(client);
    if (!restoring) await requireFinishedRestore((text) => client.query(text));
    const work = async () => {
      await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
        version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now())`);
      const files = readMigrations(folder);
      const waiting = notApplied(files, await readApplied((text) => client.query(text)));
      if (waiting.length > 0) await analyseLargeTables(client);
      for (const migration of waiting) await apply(client, migration);
      await setPlannerSettings(client);
      await makeJobsSchema(url);
      return waiting.map(({ name }) => name);
    };
    return withAdvisoryLock(client, 'schema_migrations', work, wait);
  });
}

async function requireMigratable(client: pg.Client): Promise<void> {
  if (await isPooled(client))
    throw new Error(
      'The address leads through a pooler, but migrations need a direct connection: set DATABASE_DIRECT_URL',
    );
  await requireSettings(client);
}

/** The names of the migrations that `migrate` would apply. Changes nothing; throws where `migrate` would refuse. */
export async function planMigrations(client: pg.Client): Promise<string[]> {
  await requireMigratable(client);
  const ask = (text: string) => client.query(text);
  await requireFinishedRestore(ask);
  return notApplied(readMigrations(), await appliedMigrations(ask)).map(({ name }) => name);
}

/**
 * Throws unless the database has exactly the migrations of this release. Commands that read or build every table
 * need that: an older release would leave tables and columns out.
 */
export async function requireReleased(query: Query): Promise<void> {
  await requireFinishedRestore(query);
  if (notApplied(readMigrations(), await appliedMigrations(query)).length > 0)
    throw new Error('The database is not set up for this release: npm run release does that');
}

/** A table that exists while a restore is at work; one that was killed leaves it behind. */
export const RESTORE_MARK = 'public.unfinished_restore';

export const UNFINISHED_RESTORE = 'The database holds a restore that did not finish';

/** Throws if a restore into this database did not finish. */
export async function requireFinishedRestore(query: Query): Promise<void> {
  const { rows } = await query(`SELECT to_regclass('${RESTORE_MARK}') IS NOT NULL AS unfinished`);
  if ((rows[0] as { unfinished: boolean }).unfinished)
    throw new Error(`${UNFINISHED_RESTORE}: drop the database, create it again, and restore`);
}

/**
 * Names of migrations that the code expects and the database lacks, for readiness. A database that
 * is ahead counts as ready, because old processes keep serving during a release.
 */
export async function pendingMigrations(query: Query, folder = MIGRATIONS): Promise<string[]> {
  const applied = new Set((await appliedMigrations(query)).map(({ name }) => name));
  return migrationNames(folder).filter((name) => !applied.has(name));
}

/** The applied migrations; none if the database has no tables yet. */
export async function appliedMigrations(query: Query): Promise<Applied[]> {
  const made = await query(`SELECT to_regclass('schema_migrations') IS NOT NULL AS made`);
  return (made.rows[0] as { made: boolean }).made ? readApplied(query) : [];
}

/**
 * Collects statistics of large tables that have none, as after pg_upgrade: a migration that joins two of them could
 * take hours otherwise.
 */
async function analyseLargeTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`SELECT oid::regclass::text AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
      AND reltuples < 0 AND pg_relation_size(oid) >= 1048576`);
  for (const { name } of rows) await client.query(`ANALYZE ${name}`);
}

async function apply(client: pg.Client, { version, name, sql, checksum }: Migration) {
  try {
    await client.query('BEGIN');
    await client.query(sql);
    await client.query(
      'INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)',
      [version, name, checksum],
    );
    await client.query('COMMIT');
  } catch (error) {
    await rollBack(client);
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error });
  }
}

async function readApplied(query: Query): Promise<Applied[]> {
  const result = await query(
    'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
  );
  return result.rows as Applied[];
}

/**
 * The migrations that the database lacks. Throws if it has one that this code lacks or that differs
 * from this code's.
 */
export function notApplied(files: Migration[], applied: Applied[]): Migration[] {
  if (applied.some(({ name }) => name === '0001-events'))
    throw new Error(
      'The database was made by a development version before 0.9.0, which cannot be upgraded: ' +
        'start with an empty database',
    );
  const byVersion = new Map(files.map((file) => [file.version, file]));
  for (const { version, name, checksum } of applied) {
    const file = byVersion.get(version);
    if (!file) throw new Error(`The database is ahead: it has ${name}, which this code lacks`);
    if (file.checksum !== checksum)
      throw new Error(
        `The database has another ${name} than this code: it belongs to another version of this ` +
          'service, unless the file was changed after it was applied, where a new one is to be added',
      );
  }
  const last = applied.at(-1)?.version ?? 0;
  const waiting = files.filter(({ version }) => !applied.some((done) => done.version === version));
  const late = waiting.find(({ version }) => version < last);
  if (late)
    throw new Error(
      `The database lacks ${late.name}, but has what comes after it: it belongs to another version ` +
        'of this service, unless the file is new, and to be numbered last',
    );
  return waiting;
}

/** The migrations of this release. Throws if a file is not named as it should be. */
export function readMigrations(folder = MIGRATIONS): Migration[] {
  const migrations = migrationNames(folder).map((name) => {
    const number = /^(\d{4})-[a-z0-9-]+$/.exec(name)?.[1];
    if (!number) throw new Error(`migrations/${name}.sql is not named like 0001-name.sql`);
    const sql = readFileSync(join(folder, `${name}.sql`), 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    return { version: Number(number), name, sql, checksum };
  });
  const twice = migrations.find((one, i) => one.version === migrations[i - 1]?.version);
  if (twice) throw new Error(`Two migrations have the number of ${twice.name}`);
  return migrations;
}

/** Their names alone, in order: readiness compares them every few seconds. */
const migrationNames = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();

async function makeJobsSchema(url: string): Promise<void> {
  // Most commands check migrations but apply none, and pg-boss takes a seventh of their start.
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({
    ...addressConfig(url, 'migrate'),
    schema: JOBS_SCHEMA,
    max: 1,
    supervise: false,
    schedule: false,
  });
  boss.on('error', () => undefined); // start() rejects with the error
  await boss.start();
  await boss.stop({ graceful: false });
}
