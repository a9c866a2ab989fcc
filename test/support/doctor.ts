import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { createBackup } from '../../cli/backup/create.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { newKey } from '../../harness/registration.ts';
import { inMemory, temporaryFolder } from '../../harness/temporary-folder.ts';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import type { Settings } from '../../platform/embedded/start-server.ts';
import { parseServerKeys } from '../../platform/keys/server-keys.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { grantRoles } from '../../services/database-roles.ts';
import { asRole } from './database.ts';

type Ending = { teardown(end: () => Promise<void>): unknown };
type Environment = Readonly<Record<string, string>>;

/** Starts a PostgreSQL as it has to be in production: durable. */
export async function startDurableServer(t: Ending, settings: Settings = {}) {
  const folder = temporaryFolder('doctor', inMemory());
  const dataDir = join(folder.path, 'primary');
  const server = await embeddedPostgres({ dataDir, settings });
  t.teardown(async () => {
    await server.stop();
    folder.remove();
  });
  return { ...server, dataDir, folder: folder.path };
}

/** Runs SQL as the superuser of a server, in its database `service` or the one of `url`. */
export async function runSql(server: { url: string }, statements: string, url = server.url) {
  const address = asSuperuser(server, url);
  const loadedAt = () =>
    withConnection(address, async (client) => {
      const { rows } = await client.query('SELECT pg_conf_load_time()::text AS at');
      return rows[0].at as string;
    });
  const before = await loadedAt();
  await withConnection(address, async (client) => {
    // `ALTER SYSTEM` must be alone in its transaction.
    for (const statement of statements.split('; ')) await client.query(statement);
  });
  // The server reads its files a moment after it was asked to; connections after that have them.
  if (statements.includes('pg_reload_conf')) while ((await loadedAt()) === before) await sleep(20);
}

/** A new database, and the role that owns it. */
export async function createOwnedDatabase(server: { url: string }, options = '') {
  const name = `doctor_${randomBytes(6).toString('hex')}`;
  await runSql(server, `CREATE ROLE ${name} LOGIN PASSWORD '${name}'`);
  await runSql(server, `CREATE DATABASE ${name} OWNER ${name} ${options}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  url.username = name;
  url.password = name;
  return { url: url.href, name };
}

/** The address of a database on `server`, as its superuser. */
export function asSuperuser(server: { url: string }, url: string): string {
  const address = new URL(server.url);
  address.pathname = new URL(url).pathname;
  return address.href;
}

/** An environment whose role owns the tables, and a folder with a backup. */
export async function createUngranted(t: Test, server: { url: string }) {
  const { url, name } = await createOwnedDatabase(server);
  await migrate(url);
  const serverKeys = `1:${newKey()}`;
  const folder = temporaryFolder('doctor');
  t.teardown(folder.remove);
  const backups = join(folder.path, 'backups');
  const passphrase = 'correct horse battery';
  await createBackup(url, join(backups, 'first'), parseServerKeys(serverKeys) ?? [], passphrase);
  const env = {
    DATABASE_URL: url,
    SERVER_KEYS: serverKeys,
    DATA_DIR: join(folder.path, 'data'),
    BACKUP_PASSPHRASE: passphrase,
  };
  return { url, name, env, backups, folder: folder.path };
}

/**
 * An environment and a folder of backups in which the doctor finds nothing. `ownerEnv` is that of the
 * release and other commands of the owner.
 */
export async function createHealthy(t: Test, server: { url: string }) {
  const { env: ownerEnv, ...rest } = await createUngranted(t, server);
  await withConnection(asSuperuser(server, rest.url), grantRoles);
  await runSql(server, `ALTER ROLE service PASSWORD 'service'`);
  const env = { ...ownerEnv, DATABASE_URL: asRole(rest.url, 'service') };
  return { ...rest, env, ownerEnv };
}

/** Runs a command of `cli/`; returns its exit status and output. */
export function runCli(args: readonly string[], env: Environment) {
  const all = { ...INHERITED_ENV, ...env };
  return promisify(execFile)(process.execPath, args, { env: all }).then(
    (said) => ({ code: 0, ...said }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  );
}

/** Runs the doctor, and returns its exit status and the lines of one check. */
export async function diagnose(
  check: string,
  env: Environment,
  { args = [], imports = [] }: { args?: string[]; imports?: string[] } = {},
) {
  const options = imports.map(
    (code) => `--import=data:text/javascript,${encodeURIComponent(code)}`,
  );
  const { code, stdout, stderr } = await runCli([...options, 'cli/doctor.ts', ...args], env);
  const lines = stdout.split('\n').filter((line) => line.split(/ +/)[1] === check);
  return { code, lines, stderr };
}
