import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createApi } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { patient } from '../../harness/patient.ts';
import { publishArtifact } from '../../harness/records.ts';
import { testDatabase } from '../support/database.ts';
import { createMemoryGroup } from '../support/memory-group.ts';
import { until } from '../support/svc.ts';

t.setTimeout(600_000);

const ROOT = join(import.meta.dirname, '../..');
const LIMIT_BYTES = 256 * 2 ** 20;
const CLIENTS = 16;
const TURNS = 15;
const HIGH = '1000000';

/** The arguments of Node with which the Procfile starts a process. */
function procfileArguments(name: string): string[] {
  const procfile = readFileSync(join(ROOT, 'Procfile'), 'utf8');
  const [, command = ''] = new RegExp(`^${name}: .*? node (.*)$`, 'm').exec(procfile) ?? [];
  return command.split(' ');
}

const group = createMemoryGroup(LIMIT_BYTES);
t.teardown(() => group?.remove());
const needsGroup = group ? {} : { skip: 'no control group with a memory limit can be made here' };

t.test('web and worker serve together in 256 MB', needsGroup, async (t) => {
  if (!group) return;
  const { url, pool } = await testDatabase(t);
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const env = {
    ...INHERITED_ENV,
    DATABASE_URL: url,
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    BASE_URL: base,
    PORT: port,
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
    LIMIT_NOTES_PER_TEN_MINUTES: HIGH,
    LIMIT_NOTES_PER_DAY: HIGH,
    LIMIT_KEY_ATTEMPTS: HIGH,
    LIMIT_REGISTRATIONS_PER_DAY: HIGH,
    LIMIT_BOOTSTRAP_ATTEMPTS: HIGH,
    GROUP: group.processes,
  };
  const processes = ['web', 'worker'].map((name) => {
    const args = ['-c', 'echo $$ >"$GROUP" && exec "$0" "$@"', process.execPath];
    const child = spawn('sh', [...args, ...procfileArguments(name)], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return { name, child, exit: once(child, 'exit') };
  });
  t.teardown(async () => {
    for (const { child, exit } of processes) {
      child.kill('SIGKILL');
      await exit;
    }
  });
  const isAlive = () =>
    processes.every(({ child }) => child.exitCode === null && child.signalCode === null);
  const answers = () => fetch(`${base}/readyz`).then(({ status }) => status === 200);
  while (!(await answers().catch(() => false))) {
    if (!isAlive()) throw new Error(`a process ended; the kernel killed ${group.kills()}`);
    await sleep(50);
  }

  const api = patient(createApi(base));
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const agent = await newAgent(api);
      for (let turn = 0; turn < TURNS; turn++) {
        const message = `Note ${turn} of ${client}: ${'words of a guest '.repeat(10)}`;
        const body = { id: randomUUID(), name: 'Ada', message };
        const posted = await api.call('POST', '/api/guestbook', { body });
        if (posted.status !== 202) throw new Error(posted.text);
        await publishArtifact(agent);
        for (const path of ['/api/guestbook', '/', '/api/v1/activity', '/api/v1/me/export']) {
          const { authorization } = agent;
          const headers = path.endsWith('export') ? { authorization } : {};
          const read = await api.call('GET', path, { headers });
          if (read.status !== 200) throw new Error(`${path}: ${read.text.slice(0, 200)}`);
        }
      }
    }),
  );
  await until(async () => {
    const { rows } = await pool.query('SELECT count(*)::int AS screened FROM note_screenings');
    return rows[0].screened === CLIENTS * TURNS;
  });
  t.equal(group.kills(), 0, 'the kernel killed no process');
  t.comment(`most memory of the group: ${Math.round(group.peak() / 2 ** 20)} of 256 MB`);
  for (const { name, child, exit } of processes) {
    child.kill('SIGTERM');
    t.same(await exit, [0, null], `${name} ends`);
  }
});
