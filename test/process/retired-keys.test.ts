import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { bootstrap, newCredential, toAuthorization } from '../../harness/agent.ts';
import { readCookie } from '../../harness/api.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { newKey, newRegistration } from '../../harness/registration.ts';
import { readConfig } from '../../platform/config.ts';
import { createCore } from '../../services/compose.ts';
import { addModerator } from '../../services/moderation/staff/moderators.ts';
import type { testDatabase } from '../support/database.ts';
import { diagnose } from '../support/doctor.ts';
import { type Service, startService } from '../support/service.ts';

const [first, second] = [`1:${newKey()}`, `2:${newKey()}`];
const BOTH = `${second},${first}`;
const HEAD =
  'key\tstate\tsign_in\trecovery\tcredentials\tmoderators\thandles\tsessions\treceipts\n';

/** Runs the keys command; returns its exit status and output. */
async function keys(url: string, held: string, ...args: string[]) {
  const env = { ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS: held };
  const script = join(import.meta.dirname, '../../cli/keys.ts');
  return promisify(execFile)(process.execPath, [script, ...args], { env }).then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

async function register(service: Service) {
  const member = newRegistration();
  const { status } = await service.call('POST', '/api/membership/register', { body: member });
  if (status !== 200) throw new Error(`registration was answered with ${status}`);
  return member;
}

type Member = Awaited<ReturnType<typeof register>>;

const signIn = (service: Service, { id, sign_in_key }: Pick<Member, 'id' | 'sign_in_key'>) =>
  service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });

function recover(service: Service, { id, recovery_key }: Member) {
  const made = { new_sign_in_key: newKey(), new_recovery_key: newKey() };
  const body = { id, recovery_key, ...made, operation_id: crypto.randomUUID() };
  return service.call('POST', '/api/membership/recover', { body }).then(({ status }) => ({
    status,
    sign_in_key: made.new_sign_in_key,
    recovery_key: made.new_recovery_key,
  }));
}

/** Starts a service on a database that others have used, with the keys given. */
const restart = (
  t: Test,
  SERVER_KEYS: string,
  database: Awaited<ReturnType<typeof testDatabase>>,
) => startService(t, { SERVER_KEYS }, database);

/** Makes a credential of the member and revokes it with itself. */
async function endCredential(service: Service, member: Member): Promise<void> {
  const credential = newCredential();
  await bootstrap(service, member, credential);
  const headers = {
    authorization: toAuthorization(credential),
    'idempotency-key': crypto.randomUUID(),
  };
  const body = { credential_id: credential.credential_id };
  const revoked = await service.call('POST', '/api/v1/me/credentials/revoke', { body, headers });
  if (revoked.status !== 200) throw new Error(revoked.text);
}

const keptOfEnded = async ({ pool }: Service['database']) =>
  (await pool.query('SELECT FROM ended_verifiers')).rowCount;

t.test('retires a server key once members have renewed what was under it', async (t) => {
  const before = await startService(t, { SERVER_KEYS: first });
  const { database } = before;
  const recovers = await register(before);
  const moves = await register(before);
  await endCredential(before, moves);

  const rotated = await restart(t, BOTH, database);
  const needed = await keys(database.url, BOTH, 'retire', '1');
  t.equal(needed.code, 1);
  t.match(needed.stderr, 'Key 1 is still needed by 2 sign-in keys, 2 recovery keys.');
  t.equal(needed.stdout, '', 'prints no key');

  for (const member of [recovers, moves]) {
    const renewed = await recover(rotated, member);
    t.equal(renewed.status, 200);
    Object.assign(member, renewed);
  }
  t.equal(
    (await keys(database.url, BOTH, 'status')).stdout,
    `${HEAD}2\tnewest\t2\t2\t0\t0\t0\t0\t6\n1\theld\t0\t0\t0\t0\t2\t0\t6\n`,
  );
  const { code, stdout, stderr } = await keys(database.url, BOTH, 'retire', '1');
  t.equal(code, 0);
  t.match(stderr, 'Key 1 is then gone, except for what recognizes taken handles.');
  t.match(stdout, /^2:[0-9a-f]{64},1:handle:[0-9a-f]{64}\n$/);
  t.notMatch(stdout, first.slice(2), 'the retired key itself is not printed');

  const left = stdout.trim();
  const after = await restart(t, left, database);
  t.equal((await signIn(after, recovers)).status, 200);
  t.equal((await recover(after, moves)).status, 200);
  t.equal(await keptOfEnded(database), 1, 'what is kept of an ended credential needs no key');
  const taken = { ...newRegistration(), handle: recovers.handle };
  const refused = await after.call('POST', '/api/membership/register', { body: taken });
  t.match(refused.body, { error: { code: 'registration_conflict' } });
  const status = await keys(database.url, left, 'status');
  t.match(status.stdout, /^1\tretired\t0\t0\t0\t0\t2\t0\t/m);
  t.match((await keys(database.url, left, 'retire', '1')).stderr, 'Key 1 is retired already');
});

t.test('renews a sign-in key at sign-in and when a credential is made', async (t) => {
  const before = await startService(t, { SERVER_KEYS: first });
  const { database } = before;
  const [visitor, agent, mistaken] = [
    await register(before),
    await register(before),
    await register(before),
  ];
  const rotated = await restart(t, BOTH, database);
  const keyIds = async ({ id }: Member) => {
    const { rows } = await database.pool.query(
      `SELECT key_id FROM verifiers WHERE owner_id = $1 AND purpose = 'sign-in'`,
      [id],
    );
    return rows.map((row) => row.key_id);
  };
  t.equal((await signIn(rotated, visitor)).status, 200);
  t.same(await keyIds(visitor), [2]);
  t.equal((await signIn(rotated, visitor)).status, 200, 'the renewed verifier is right');
  t.equal((await bootstrap(rotated, agent, newCredential())).status, 201);
  t.same(await keyIds(agent), [2]);
  t.equal((await bootstrap(rotated, agent, newCredential())).status, 201);
  t.equal((await signIn(rotated, { ...mistaken, sign_in_key: newKey() })).status, 401);
  t.same(await keyIds(mistaken), [1], 'a wrong key renews nothing');
});

t.test("renews a moderator's token at sign-in", async (t) => {
  const before = await startService(t, { SERVER_KEYS: first });
  const { database } = before;
  const added = await addModerator(before.core, 'Ada', 'moderator');
  if (!('token' in added)) throw new Error('no moderator');
  const rotated = await restart(t, BOTH, database);
  const signInModerator = (service: Service) =>
    service.call('POST', '/api/moderation/session', { body: { token: added.token } });
  t.equal((await signInModerator(rotated)).status, 200);
  const { stdout } = await keys(database.url, BOTH, 'status');
  t.match(stdout, /^2\tnewest\t0\t0\t0\t1\t/m);
  t.equal((await signInModerator(await restart(t, second, database))).status, 200);
});

t.test('ends what members who never came back had under a key, and nothing else', async (t) => {
  const before = await startService(t, { SERVER_KEYS: first });
  const { database } = before;
  const [signsIn, recovers, absent, gone] = [
    await register(before),
    await register(before),
    await register(before),
    await register(before),
  ];
  const note = { id: crypto.randomUUID(), message: 'I was here' };
  const cookie = readCookie(await signIn(before, absent));
  await before.call('POST', '/api/guestbook', { body: note, headers: { cookie } });
  const goodbye = readCookie(await signIn(before, gone));
  await before.call('POST', '/api/membership/deactivate', {
    body: { handle: gone.handle, published_notes: 'withdraw' },
    headers: { cookie: goodbye },
  });

  await endCredential(before, absent);

  const rotated = await restart(t, BOTH, database);
  t.equal((await signIn(rotated, signsIn)).status, 200);
  Object.assign(recovers, await recover(rotated, recovers));
  const shown = await keys(database.url, BOTH, 'retire', '1', '--give-up');
  t.equal(shown.code, 1);
  const [, count = ''] = /--give-up --yes (\d+)\n$/.exec(shown.stderr) ?? [];
  t.match(
    shown.stderr,
    /^This ends \d+ sign-in keys, \d+ recovery keys.* for good\. Make a backup/,
  );
  const wrong = await keys(database.url, BOTH, 'retire', '1', '--give-up', '--yes', `${count}0`);
  t.equal(wrong.code, 1, 'another number');
  const given = await keys(database.url, BOTH, 'retire', '1', '--give-up', '--yes', count);
  t.equal(given.code, 0, given.stderr);
  t.equal(await keptOfEnded(database), 0, 'what was kept of an ended credential is deleted');
  const record =
    /Key 1 was given up at 20\S+Z, which ended \d+ sign-in keys, \d+ recovery keys.* sessions$/m;
  t.match((await keys(database.url, BOTH, 'status')).stderr, record);
  const env = { DATABASE_URL: database.url, SERVER_KEYS: given.stdout.trim() };
  t.match((await diagnose('keys', env)).lines, [record]);

  const after = await restart(t, given.stdout.trim(), database);
  t.equal((await signIn(after, signsIn)).status, 200, 'who signed in still can');
  t.equal((await recover(after, signsIn)).status, 401, 'but not recover under the old key');
  t.equal((await signIn(after, recovers)).status, 200);
  t.equal((await recover(after, recovers)).status, 200, 'who recovered has two new keys');
  t.equal((await signIn(after, absent)).status, 401, 'who never came back is refused');
  t.equal((await recover(after, absent)).status, 401);
  t.equal((await after.call('GET', '/api/membership/me', { headers: { cookie } })).status, 401);
  const own = await database.pool.query('SELECT state FROM members WHERE member_id = $1', [
    absent.id,
  ]);
  t.same(own.rows, [{ state: 'active' }], 'the account stays');
  for (const { handle } of [absent, gone]) {
    const body = { ...newRegistration(), handle };
    const refused = await after.call('POST', '/api/membership/register', { body });
    t.match(refused.body, { error: { code: 'registration_conflict' } }, 'the handle stays taken');
  }
});

t.test('refuses to retire the newest key, an unknown one and none', async (t) => {
  const { database } = await startService(t, { SERVER_KEYS: first });
  const refused = async (held: string, ...args: string[]) => {
    const { stdout, stderr, ...rest } = await keys(database.url, held, ...args);
    t.equal(stdout, '');
    return { ...rest, stderr };
  };
  t.match(await refused(first, 'retire', '1'), {
    code: 1,
    stderr: 'Key 1 is the newest: put a new key before it and restart first',
  });
  t.match(await refused(BOTH, 'retire', '3'), { code: 1, stderr: 'SERVER_KEYS has no key 3' });
  t.match(await refused(first, 'retire'), {
    code: 2,
    stderr: 'retire needs the id of a server key.',
  });
  t.match(await refused(first, 'status', '1'), { code: 2, stderr: 'status takes no arguments.' });
  const handleFirst = `1:handle:${newKey()},${second}`;
  t.match((await refused(handleFirst, 'status')).stderr, 'SERVER_KEYS');
});

t.test('refuses a retired key that is not the one this database was used with', async (t) => {
  const { database } = await startService(t, { SERVER_KEYS: first });
  const mistaken = readConfig({
    DATABASE_URL: database.url,
    SERVER_KEYS: `${second},1:handle:${newKey()}`,
  });
  await t.rejects(createCore(mistaken, 'test'), {
    message: /another secret for key 1 than this database was used with/,
  });
});
