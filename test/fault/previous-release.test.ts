import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { createApi } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { atDesk, submitAs } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { signedIn } from '../../harness/registration.ts';
import { testDatabase } from '../support/database.ts';
import { needsHistory, previousRelease } from '../support/previous-release.ts';
import { isStorageRefusal } from '../support/storage-refusals.ts';
import { until } from '../support/svc.ts';

t.setTimeout(600_000);

const HIGH = '1000000';
const LIMITS = Object.fromEntries(
  [
    'LIMIT_NOTES_PER_TEN_MINUTES',
    'LIMIT_NOTES_PER_DAY',
    'LIMIT_GUEST_NOTES_PER_HOUR',
    'LIMIT_REGISTRATIONS_PER_HOUR',
    'LIMIT_REGISTRATIONS_PER_DAY',
    'LIMIT_KEY_ATTEMPTS',
    'LIMIT_BOOTSTRAP_ATTEMPTS',
  ].map((name) => [name, HIGH]),
);

t.test('processes of the previous release serve the new schema', needsHistory(), async (t) => {
  const root = await previousRelease(t);
  const { url, pool } = await testDatabase(t);
  const port = await freePort();
  const env = {
    ...INHERITED_ENV,
    ...LIMITS,
    DATABASE_URL: url,
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    BASE_URL: `http://localhost:${port}`,
    PORT: port,
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
  };
  const log: string[] = [];
  const start = (file: string) => {
    const child = spawn(process.execPath, [join(root, file)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    createInterface(child.stdout).on('line', (line) => log.push(line));
    return child;
  };
  const processes = [start('services/web.ts'), start('workers/worker.ts')] as const;
  const api = patient(createApi(env.BASE_URL));
  await untilReady(processes[0], env.BASE_URL);
  const moderator = async (name: string, role: string) => {
    const args = [join(root, 'cli/moderator.ts'), 'add', name, '--role', role];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return atDesk(api, { id: name, token: stdout.trim().split('\n').at(-1) ?? '' });
  };

  const member = await signedIn(api);
  const note = await submitAs(api, member, { message: 'A note beside a new schema' });
  await until(async () => {
    const { rowCount } = await pool.query('SELECT FROM note_screenings WHERE note_id = $1', [
      note.id,
    ]);
    return rowCount === 1;
  });

  // The operations as the previous release had them, with each of its reads and writes.
  const { createTraffic } = (await import(join(root, 'harness/traffic.ts'))) as {
    createTraffic(
      api: object,
      desks: object,
    ): Promise<
      { name: string; prepare(): Promise<() => Promise<{ status: number; text: string }>> }[]
    >;
  };
  const desks = {
    moderator: await moderator('Ann', 'moderator'),
    lead: await moderator('Eve', 'lead'),
  };
  const operations = await createTraffic(api, desks);
  t.ok(operations.length > 80, `${operations.length} operations`);
  for (const { name, prepare } of operations) {
    const send = await prepare();
    const { status, text } = await send();
    t.ok(status < 400, `${name}: ${status} ${status < 400 ? '' : text}`);
  }
  const { rows: failed } = await pool.query(
    `SELECT name, output FROM pgboss.job WHERE state = 'failed' OR name = 'dead-letters'`,
  );
  t.same(failed, [], 'no job has failed for the last time');
  for (const child of processes) {
    const exit = once(child, 'close');
    child.kill('SIGTERM');
    t.same(await exit, [0, null]);
  }
  t.same(
    log.filter((line) => !isStorageRefusal(line)),
    [],
    'no process has logged an error',
  );
});

async function untilReady(child: ChildProcess, base: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${base}/readyz`).catch(() => undefined);
    await answer?.text();
    if (answer?.status === 200) return;
    if (child.exitCode !== null) throw new Error('the previous release ended at its start');
    await sleep(50);
  }
}
