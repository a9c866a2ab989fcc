import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { bootstrap, newAgent, newCredential } from '../../harness/agent.ts';
import { readCookie } from '../../harness/api.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { newKey } from '../../harness/registration.ts';
import { logServers } from '../../platform/eventstore/log-epochs.ts';
import { Client } from '../../platform/postgres/client.ts';
import { clientConfig } from '../../platform/postgres/connection.ts';
import { startService } from '../support/service.ts';

/** Runs the command on a database. */
async function restored(url: string, ...args: string[]) {
  const env = { ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS: `1:${newKey()}` };
  return promisify(execFile)(process.execPath, ['cli/restored.ts', ...args], { env }).then(
    (said) => ({ code: 0, ...said }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

t.test('begins an epoch and ends all sessions and credentials', async (t) => {
  const service = await startService(t, { LIMIT_ACTIVE_CREDENTIALS: '1' });
  const { url, pool } = service.database;
  const agent = await newAgent(service);
  const { id, sign_in_key } = agent;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const cookie = readCookie(login);
  const me = () => service.call('GET', '/api/membership/me', { cookie });
  t.equal((await me()).status, 200);
  const said = await restored(url, '--reason', 'drill');
  t.match(said, { code: 0, stderr: '' });
  t.match(said.stdout, /^Epoch \d{13} of the log has begun\..* position \d+, recorded at /);
  const { rows } = await pool.query('SELECT reason FROM log_epochs ORDER BY epoch');
  t.same(
    rows.map(({ reason }) => reason),
    ['first', 'drill'],
  );
  t.equal((await me()).status, 401);
  t.equal((await agent.call('GET', '/api/v1/me')).status, 401);
  const again = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal(again.status, 200);
  // The ended credential does not count towards the limit of one.
  t.equal((await bootstrap(service, agent, newCredential())).status, 201);
});

t.test('refuses while processes of the service are connected', async (t) => {
  const service = await startService(t);
  // An address with a name does not hide a process.
  const named = `${service.database.url}?application_name=guestbook`;
  const web = new Client(clientConfig(named, 'service web'));
  web.on('error', () => undefined);
  await web.connect();
  t.match(await restored(service.database.url), {
    code: 1,
    stdout: '',
    stderr: 'Stop all processes first: service web connected to the database\n',
  });
  await web.end();
  t.match(await restored(service.database.url), { code: 0 });
});

t.test('goes on in the same epoch on another server if nothing is lost', async (t) => {
  const service = await startService(t);
  const { url, pool } = service.database;
  const agent = await newAgent(service);
  const servers = async () => (await pool.query(logServers())).rows[0];
  const before = await servers();
  t.same(before.noted, before.present);
  await pool.query(`UPDATE log_epochs SET server = '1/00000001'`);
  t.same((await servers()).noted, { system: '1', timeline: '00000001' });
  t.same(await restored(url, '--nothing-lost'), {
    code: 0,
    stdout: 'Epoch 1 of the log goes on, on this server.\n',
    stderr: '',
  });
  t.same(await servers(), before);
  t.equal((await agent.call('GET', '/api/v1/me')).status, 200);
  t.match(await restored(url, '--nothing-lost', '--reason', 'drill'), {
    code: 2,
    stdout: '',
    stderr: /^--nothing-lost takes no --reason\.\n/,
  });
});
