import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createApi } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { brief } from '../../harness/packets.ts';
import { newKey } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { IS_A_SANDBOX, NOT_A_SANDBOX } from '../../services/sandbox.ts';
import { asRole, testDatabase } from '../support/database.ts';
import { startProcess } from '../support/processes.ts';
import { svcIn, until } from '../support/svc.ts';
import { bridge, REVISIONS } from '../support/svc-mcp.ts';

// A sandbox of real processes: filled, stopped, emptied by a release, started again.

const { url, pool } = await testDatabase(t);
const port = await freePort();
const baseUrl = `http://127.0.0.1:${port}`;
const settings = {
  DATABASE_URL: url,
  SERVER_KEYS: `1:${newKey()}`,
  BASE_URL: baseUrl,
  PORT: port,
  SANDBOX: 'true',
};
const api = createApi(baseUrl);

function startCommand(file: string, args: string[] = [], more: Record<string, string> = {}) {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, '../..', file), ...args],
    {
      env: { ...INHERITED_ENV, ...settings, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  t.teardown(() => child.kill('SIGKILL'));
  const ended = Promise.all([
    once(child, 'close'),
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
  ]).then(([[code], stdout, stderr]) => ({ code, stdout, stderr }));
  return { child, ended };
}
const release = (more?: Record<string, string>) =>
  startCommand('services/release.ts', [], more).ended;

/** Web as a role that may not change the log. */
async function startWeb() {
  const web = await startProcess(t, 'web', ['ignore', 'ignore', 'inherit'], {
    ...settings,
    DATABASE_URL: asRole(url, 'service'),
  });
  await web.untilServes();
  return web;
}

const makeDue = () => pool.query(`UPDATE sandbox SET emptied_at = now() - interval '2 days'`);
const countMembers = async () => (await pool.query('SELECT FROM members')).rowCount;

t.test('a sandbox begins its day empty, and its moderators still sign in', async (t) => {
  t.equal((await release()).code, 0);
  const web = await startWeb();
  const { path, remove } = temporaryFolder('sandbox-svc');
  t.teardown(remove);
  const svc = svcIn(t, path, baseUrl);
  const notice =
    'The service is a sandbox for tests: all members and texts in it are deleted each day at 04:00 UTC. Then register again.';
  t.match(await svc('register', 'visitor', '--json'), {
    code: 0,
    out: /^\{"status".*\}\n$/,
    err: `${notice}\n`,
  });
  for (const revision of REVISIONS) {
    const { client } = await bridge(t, path, undefined, { revision });
    t.match(client.getInstructions(), notice, revision);
    await client.close();
  }
  t.equal((await svc('updates')).code, 0);
  const agent = await newAgent(api);
  const packet = await agent.call('POST', '/api/v1/artifacts', brief());
  t.equal(packet.status, 201, packet.text);
  const { body: updates } = await agent.call('GET', '/api/v1/updates');
  const added = await startCommand('cli/moderator.ts', ['add', 'grace', '--role', 'lead']).ended;
  t.equal(added.code, 0, added.stderr);
  const authorization = `Bearer ${added.stdout.trim().split('\n').at(-1)}`;

  await makeDue();
  t.match(await release(), {
    code: 75,
    stderr: /Warning: the sandbox is due .* service web connected/,
  });
  t.equal(await countMembers(), 2, 'nothing changes while a process is connected');
  const waiting = agent.call('GET', `/api/v1/updates?cursor=${updates.next_cursor}&wait=25`);
  const stream = await fetch(`${baseUrl}/api/moderation/stream`, { headers: { authorization } });
  t.equal(stream.status, 200);
  web.child.kill('SIGTERM');
  t.same(await web.end(), [0, null], 'open streams and long polls do not keep it');
  t.same((await waiting).body.events, []);
  await stream.text().catch(() => undefined);

  // Killed while it waits for a lock, in the middle of its transaction.
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE write_budgets IN ACCESS SHARE MODE');
  const killed = startCommand('services/release.ts');
  const isWaiting = async () =>
    (
      await pool.query(`SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'service release' AND wait_event_type = 'Lock'`)
    ).rowCount !== 0;
  await until(isWaiting);
  killed.child.kill('SIGKILL');
  await killed.ended;
  await holder.end();
  await until(async () => !(await isWaiting()));
  t.equal(await countMembers(), 2, 'the database is whole');

  const [first, second] = await Promise.all([release(), release()]);
  t.match(
    [first.stdout, second.stdout].filter((line) => /Emptied the sandbox/.test(line)).length,
    1,
  );
  t.equal(await countMembers(), 0);

  await startWeb();
  t.equal((await agent.call('GET', '/api/v1/me')).status, 401, 'the old credential is unknown');
  const gone = await svc('whoami');
  t.not(gone.code, 0);
  t.match(gone.err, 'credential_not_accepted');
  const { id, handle, sign_in_key, recovery_key } = agent;
  const again = await newAgent(api, undefined, { id, handle, sign_in_key, recovery_key } as {
    id: string;
  });
  const old = await again.call('GET', `/api/v1/updates?cursor=${updates.next_cursor}`);
  t.match(old, { status: 400, body: { error: { code: 'cursor_reset' } } });
  const queue = await api.call('GET', '/api/moderation/queue', { headers: { authorization } });
  t.match(queue, { status: 200, body: { items: [] } });
  t.equal(
    (await again.call('GET', `/api/v1/artifacts/${packet.body.artifact?.id ?? randomUUID()}`))
      .status,
    404,
  );
});

t.test('without SANDBOX=true, its database is refused', async (t) => {
  const stderr = `${IS_A_SANDBOX}\n`;
  t.match(await release({ SANDBOX: 'false' }), { code: 1, stdout: '', stderr });
  for (const file of ['services/web.ts', 'workers/worker.ts'])
    t.match(await startCommand(file, [], { SANDBOX: '', PORT: await freePort() }).ended, {
      code: 1,
      stdout: IS_A_SANDBOX,
    });
  const args = ['add', 'ada', '--role', 'lead'];
  t.match(await startCommand('cli/moderator.ts', args, { SANDBOX: '' }).ended, { code: 1, stderr });
});

t.test('SANDBOX=true on the database of another service changes nothing', async (t) => {
  const other = await testDatabase(t);
  const own = { DATABASE_URL: other.url, SANDBOX: 'false' };
  const args = ['add', 'ada', '--role', 'lead'];
  t.match(await startCommand('cli/moderator.ts', args, own).ended, { code: 0 });
  const wrong = { DATABASE_URL: other.url, SANDBOX_EMPTIED_AT: '00:00' };
  t.match(await release(wrong), { code: 1, stdout: '', stderr: `${NOT_A_SANDBOX}\n` });
  t.match(await startCommand('services/web.ts', [], wrong).ended, {
    code: 1,
    stdout: NOT_A_SANDBOX,
  });
  const { rows } = await other.pool.query(
    'SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(*)::int FROM sandbox) AS marks',
  );
  t.same(rows, [{ events: 1, marks: 0 }]);
});
