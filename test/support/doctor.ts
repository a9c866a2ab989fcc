import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { createBackup } from '../../cli/backup/create.ts';
import { diagnose as runDoctor } from '../../cli/doctor/diagnose.ts';
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
export async function createOwnedDatabase(
  server: { url: string },
  options = '',
  name = `doctor_${randomBytes(6).toString('hex')}`,
) {
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

export const TEMPLATE = 'doctor_template';
const PASSPHRASE = 'correct horse battery';
type DurableServer = Pick<Awaited<ReturnType<typeof startDurableServer>>, 'url' | 'folder'>;

/** Migrating and sealing a backup take a second each, so each server does both once. */
const prepared = new WeakMap<DurableServer, ReturnType<typeof prepare>>();

/** Creates a migrated database, owned by the role `TEMPLATE`, and a backup of it. */
async function prepare(server: DurableServer) {
  const { url, name } = await createOwnedDatabase(server, '', TEMPLATE);
  await migrate(url);
  const serverKeys = `1:${newKey()}`;
  const backup = join(server.folder, 'backup');
  await createBackup(url, backup, parseServerKeys(serverKeys) ?? [], PASSPHRASE);
  // `REASSIGN OWNED` would give the database away as well.
  await runSql(server, `ALTER DATABASE ${name} OWNER TO CURRENT_USER`);
  return { serverKeys, backup };
}

/** An environment whose role owns the tables, and a folder with a backup. */
export async function createUngranted(t: Test, server: DurableServer) {
  const preparing = prepared.get(server) ?? prepare(server);
  prepared.set(server, preparing);
  const { serverKeys, backup } = await preparing;
  const { url, name } = await createOwnedDatabase(server, `TEMPLATE ${TEMPLATE}`);
  await runSql(server, `REASSIGN OWNED BY ${TEMPLATE} TO ${name}`, url);
  await migrate(url); // sets how the role's statements are planned
  const folder = temporaryFolder('doctor');
  t.teardown(folder.remove);
  const backups = join(folder.path, 'backups');
  cpSync(backup, join(backups, 'first'), { recursive: true });
  const env = {
    DATABASE_URL: url,
    SERVER_KEYS: serverKeys,
    DATA_DIR: join(folder.path, 'data'),
    BACKUP_PASSPHRASE: PASSPHRASE,
  };
  return { url, name, env, backups, folder: folder.path };
}

/**
 * An environment and a folder of backups in which the doctor finds nothing. `ownerEnv` is that of the
 * release and other commands of the owner.
 */
export async function createHealthy(t: Test, server: DurableServer) {
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

/** The lines of one check among those of a doctor's output. */
const linesOf = (check: string, stdout: string) =>
  stdout.split('\n').filter((line) => line.split(/ +/)[1] === check);

/** Runs the doctor in this process, and returns its exit status and the lines of one check. */
export async function diagnose(check: string, env: Environment, { args = [] as string[] } = {}) {
  let stdout = '';
  const code = await runDoctor(env, args[0], (line) => {
    stdout += line;
  });
  return { code, lines: linesOf(check, stdout) };
}

/** As `diagnose`, as a command: for what an import or a start of Node changes, and beside a pooler of this process. */
export async function diagnoseByCommand(
  check: string,
  env: Environment,
  { args = [], imports = [] }: { args?: string[]; imports?: string[] } = {},
) {
  const options = imports.map(
    (code) => `--import=data:text/javascript,${encodeURIComponent(code)}`,
  );
  const { code, stdout, stderr } = await runCli([...options, 'cli/doctor.ts', ...args], env);
  return { code, lines: linesOf(check, stdout), stderr };
}
