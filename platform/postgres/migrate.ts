import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import { addressConfig, withConnection } from './connection.ts';
import { requireSettings, setPlannerSettings } from './database-settings.ts';

export const MIGRATIONS = join(import.meta.dirname, '../../migrations');
export const JOBS_SCHEMA = 'pgboss';

type Migration = { version: number; name: string; sql: string; checksum: string };
type Applied = { version: number; name: string; checksum: string };
type Query = (text: string) => Promise<{ rows: unknown[] }>;

/**
 * Applies pending migrations, forward only, and returns their names; also sets how the role's
 * statements are planned. Any number of processes may
 * call it concurrently: an advisory lock serializes them, and the later ones find nothing to do.
 * Throws if the database has a migration that this code lacks or that differs from this code's.
 */
export async function migrate(url: string, folder = MIGRATIONS): Promise<string[]> {
  return withConnection(addressConfig(url, 'migrate'), async (client) => {
    await requireSettings(client);
    await client.query(`SELECT pg_advisory_lock(hashtext('schema_migrations'))`);
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now())`);
    const files = readMigrations(folder);
    const waiting = notApplied(files, await readApplied((text) => client.query(text)));
    for (const migration of waiting) await apply(client, migration);
    await setPlannerSettings(client);
    await makeJobsSchema(url);
    return waiting.map(({ name }) => name);
  });
}

/**
 * Names of migrations that the code expects and the database lacks, for readiness. A database that
 * is ahead counts as ready, because old processes keep serving during a release.
 */
export async function pendingMigrations(query: Query, folder = MIGRATIONS): Promise<string[]> {
  const applied = new Set((await appliedMigrations(query)).map(({ name }) => name));
  return readMigrations(folder)
    .map(({ name }) => name)
    .filter((name) => !applied.has(name));
}

/** The applied migrations; none if the database has no tables yet. */
export async function appliedMigrations(query: Query): Promise<Applied[]> {
  const made = await query(`SELECT to_regclass('schema_migrations') IS NOT NULL AS made`);
  return (made.rows[0] as { made: boolean }).made ? readApplied(query) : [];
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
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const migrations = files.sort().map((name) => {
    const number = /^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1];
    if (!number) throw new Error(`migrations/${name} is not named like 0001-name.sql`);
    const sql = readFileSync(join(folder, name), 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    return { version: Number(number), name: name.slice(0, -'.sql'.length), sql, checksum };
  });
  const twice = migrations.find((one, i) => one.version === migrations[i - 1]?.version);
  if (twice) throw new Error(`Two migrations have the number of ${twice.name}`);
  return migrations;
}

async function makeJobsSchema(url: string): Promise<void> {
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
