import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { needs, startProgram } from '../../harness/programs.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { readConfig } from '../../platform/config.ts';
import { createCore } from '../../services/compose.ts';
import { testDatabase } from '../support/database.ts';
import { startPgBouncer, WITHOUT_PATRONI, writeConfig } from '../support/deploy-config.ts';
import { startProcess } from '../support/processes.ts';

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
    ...WITHOUT_PATRONI,
    'maxconn 20000': 'maxconn 200',
    'bind :8080': `bind 127.0.0.1:${port}`,
    'server web1 127.0.0.1:3001 check': `server web1 ${new URL(web.base).host} check`,
    '    server web2 127.0.0.1:3002 check\n': '',
    // A process that a busy machine does not run for a second is not down.
    'default-server inter 1s': 'timeout check 60s\n    default-server inter 1s',
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
    const url = await startPgBouncer(t, database.url);
    const started = createCore(
      readConfig({
        DATABASE_URL: url,
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
