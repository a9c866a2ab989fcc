import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { needs, startProgram } from '../../harness/system-process.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { readConfig } from '../../platform/config.ts';
import { createCore } from '../../services/compose.ts';
import { testDatabase } from '../support/database.ts';
import { startProcess } from '../support/processes.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');

/** Writes a file of deploy/, changed for the test, where the proxy's account can read it. */
function writeConfig(t: Test, name: string, changes: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('proxy');
  t.teardown(folder.remove);
  chmodSync(folder.path, 0o755);
  let text = readFileSync(join(DEPLOY, name), 'utf8');
  for (const [part, replacement] of Object.entries(changes)) {
    if (!text.includes(part)) throw new Error(`${name} has no ${part}`);
    text = text.replaceAll(part, replacement);
  }
  const file = join(folder.path, name);
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}

t.test("passes the service's own 503 through HAProxy in an outage", needs('haproxy'), async (t) => {
  const database = await testDatabase(t);
  const wire = await wireProxy(t, database.url);
  const web = await startProcess(t, 'web', ['ignore', 'ignore', 'inherit'], {
    DATABASE_URL: wire.url,
    DATABASE_DIRECT_URL: database.url,
  });
  await web.untilServes();
  const port = await freePort();
  const config = writeConfig(t, 'haproxy.cfg', {
    'maxconn 20000': 'maxconn 200',
    'bind :8080': `bind 127.0.0.1:${port}`,
    'server web1 127.0.0.1:3001 check': `server web1 ${new URL(web.base).host} check`,
    '    server web2 127.0.0.1:3002 check\n': '',
  });
  t.teardown((await startProgram('haproxy', ['-db', '-f', config], port)).kill);
  const read = () => fetch(`http://127.0.0.1:${port}/api/guestbook`);
  while ((await read()).status !== 200) await sleep(50);

  wire.hold();
  const answers: string[] = [];
  for (const end = performance.now() + 8000; performance.now() < end; ) {
    const answer = await read();
    const type = answer.headers.get('content-type');
    answers.push(`${answer.status} ${type}`);
    await answer.text();
  }
  t.same([...new Set(answers)], ['503 application/json; charset=utf-8']);
  wire.release();
  while ((await read()).status !== 200) await sleep(50);
});

t.test(
  'refuses to start behind a PgBouncer that loses statements',
  needs('pgbouncer'),
  async (t) => {
    const database = await testDatabase(t);
    const { hostname, port: serverPort, pathname, username, password } = new URL(database.url);
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
    const started = createCore(
      readConfig({
        DATABASE_URL: `postgres://${username}@127.0.0.1:${port}/${name}`,
        DATABASE_DIRECT_URL: database.url,
        SERVER_KEYS: `1:${'ab'.repeat(32)}`,
      }),
      'service test',
    );
    await t.rejects(started, {
      message: /does not keep prepared statements: PgBouncer from 1\.21/,
    });
  },
);
