import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { startProgram } from '../../harness/programs.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');

/** Writes a file of deploy/, changed for the test, where the proxy's account can read it. */
export function writeConfig(
  t: Test,
  name: string,
  changes: Readonly<Record<string, string>>,
): string {
  const folder = temporaryFolder('proxy');
  t.teardown(folder.remove);
  chmodSync(folder.path, 0o755);
  let text = readFileSync(join(DEPLOY, name), 'utf8');
  for (const [part, replacement] of Object.entries(changes)) {
    if (!text.includes(part)) throw new Error(`${name} has no ${part}`);
    text = text.replaceAll(part, replacement);
  }
  const file = join(folder.path, basename(name));
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}

const HAPROXY = readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8');

/** The part of haproxy.cfg that leads to PostgreSQL under Patroni, as a change for `writeConfig`. */
export const WITHOUT_PATRONI = {
  [HAPROXY.slice(HAPROXY.indexOf('\n# DATABASE_URL='))]: '',
};

/** Starts a PgBouncer in front of a database that keeps no prepared statements; returns its address. */
export async function startPgBouncer(t: Test, target: string): Promise<string> {
  const { hostname, port: serverPort, pathname, username, password } = new URL(target);
  const name = pathname.slice(1);
  const port = await freePort();
  const config = writeConfig(t, 'pgbouncer.ini', {
    'service = host=127.0.0.1 port=5432 dbname=service': `${name} = host=${hostname} port=${serverPort} dbname=${name} user=${username} password=${password}`,
    'listen_port = 6432': `listen_port = ${port}`,
    'auth_type = scram-sha-256\nauth_file = /etc/pgbouncer/userlist.txt': 'auth_type = any',
    // Debian's PgBouncer does not know this setting, and that is why it loses statements.
    'max_prepared_statements = 200\n': '',
  });
  t.teardown((await startProgram('pgbouncer', ['-q', config], port)).kill);
  return `postgres://${username}@127.0.0.1:${port}/${name}`;
}
