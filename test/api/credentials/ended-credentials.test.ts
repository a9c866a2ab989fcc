import { randomUUID } from 'node:crypto';
import t from 'tap';
import { sending, VERSION } from '../../../harness/a2a.ts';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { newKey } from '../../../harness/registration.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { expireCredentials } from '../../../workers/credentials/expire-credentials.ts';
import { sweepSessions } from '../../../workers/membership/expire-sessions.ts';
import { type Service, startService } from '../../support/service.ts';
import { recordWork } from '../../support/work-done.ts';

const ROTATE = '/api/v1/me/credentials/rotate';
const REVOKE = '/api/v1/me/credentials/revoke';
const LIMITS = { LIMIT_BOOTSTRAP_ATTEMPTS: '1000', LIMIT_ACTIVE_CREDENTIALS: '50' };

type Secret = Pick<ReturnType<typeof newCredential>, 'credential_id' | 'credential_secret'>;

const callMe = (service: Service, secret: Secret) =>
  service.call('GET', '/api/v1/me', { headers: { authorization: toAuthorization(secret) } });

/** The refusal of a bearer, without the id of the request. */
async function refusalOf(service: Service, secret: Secret) {
  const { status, body, headers } = await callMe(service, secret);
  const { request_id: _, ...error } = body.error;
  return { status, error, challenge: headers.get('www-authenticate') };
}

const PLAIN = {
  status: 401,
  error: { code: 'credential_not_accepted', message: 'The credential is not accepted.' },
  challenge: 'Bearer error="invalid_token"',
};
const withReason = (reason: string, message: string) => ({
  ...PLAIN,
  error: { ...PLAIN.error, reason, message },
});
const EXPIRED = withReason('expired', 'The credential has expired.');
const REVOKED = withReason('revoked', 'The credential was revoked.');

async function createSetting(t: Parameters<typeof startService>[0]) {
  const service = await startService(t, LIMITS);
  const agent = await newAgent(service);
  const create = async () => {
    const credential = newCredential();
    const made = await bootstrap(service, agent, credential);
    if (made.status !== 201) throw new Error(made.text);
    return credential;
  };
  const revoke = async (credential: Secret) => {
    const { credential_id } = credential;
    const revoked = await agent.call('POST', REVOKE, { credential_id });
    if (revoked.status !== 200) throw new Error(revoked.text);
    return credential;
  };
  const expire = async (credential: Secret) => {
    await service.tamper(
      `UPDATE credentials SET expires_at = now() - interval '1 second' WHERE credential_id = $1`,
      [credential.credential_id],
    );
    return credential;
  };
  const kept = async () =>
    (await service.database.pool.query('SELECT * FROM ended_verifiers ORDER BY reason')).rows;
  return { service, agent, create, revoke, expire, kept };
}

t.test('says with the secret of an ended credential how it ended', async (t) => {
  const { service, agent, create, revoke, expire } = await createSetting(t);
  t.same(await refusalOf(service, await revoke(await create())), REVOKED, 'revoked');

  const other = await create();
  await agent.call('POST', REVOKE, { all_others: true });
  t.same(await refusalOf(service, other), REVOKED, 'revoked with all others');

  const before = await create();
  const authorization = toAuthorization(before);
  t.equal((await agent.call('POST', ROTATE, newCredential(), { authorization })).status, 201);
  t.same(await refusalOf(service, before), REVOKED, 'rotated');

  const over = await expire(await create());
  t.same(await refusalOf(service, over), EXPIRED, 'expired, before the worker records it');
  t.equal(await expireCredentials(service.core), 1);
  t.same(await refusalOf(service, over), EXPIRED, 'expired, afterwards');

  const late = await expire(await create());
  await revoke(late);
  t.same(await refusalOf(service, late), EXPIRED, 'revoked when it had expired');

  const live = await create();
  const keys = { new_sign_in_key: newKey(), new_recovery_key: newKey() };
  const { id, recovery_key } = agent;
  const recovery = { id, recovery_key, ...keys, operation_id: randomUUID() };
  const recovered = await service.call('POST', '/api/membership/recover', { body: recovery });
  t.equal(recovered.status, 200);
  t.same(await refusalOf(service, live), REVOKED, 'recovered');
});

t.test('says it to an agent by A2A, and to a request that was waiting', async (t) => {
  const { service, create, revoke } = await createSetting(t);
  const ended = await revoke(await create());
  const headers = { authorization: toAuthorization(ended), ...VERSION };
  const a2a = await service.call('POST', '/a2a', { headers, body: sending([]) });
  t.equal(a2a.status, 401);
  t.match(a2a.body.error, {
    message: REVOKED.error.message,
    data: [{ metadata: { reason: 'revoked' } }],
  });

  const waiting = await create();
  const authorization = toAuthorization(waiting);
  const head = await service.call('GET', '/api/v1/updates?start=now', {
    headers: { authorization },
  });
  const cursor = head.body.next_cursor as string;
  const poll = service.call('GET', `/api/v1/updates?wait=25&cursor=${cursor}`, {
    headers: { authorization },
  });
  await revoke(waiting);
  const answer = await poll;
  t.equal(answer.status, 401);
  t.equal(answer.body.error.reason, 'revoked');
});

t.test('says nothing without the secret, and does the same work for every id', async (t) => {
  const { service, create, revoke, expire } = await createSetting(t);
  const [live, revoked, over] = [
    await create(),
    await revoke(await create()),
    await expire(await create()),
  ];
  const attempts = {
    unknown: { ...live, credential_id: randomUUID() },
    live: { ...live, credential_secret: newKey() },
    revoked: { ...revoked, credential_secret: newKey() },
    over: { ...over, credential_secret: newKey() },
  };
  const work = new Map<string, object>();
  for (const [name, attempt] of Object.entries(attempts)) {
    t.same(await refusalOf(service, attempt), PLAIN, name);
    work.set(name, await recordWork(() => callMe(service, attempt)));
  }
  t.match(work.get('unknown'), { hashes: Number });
  for (const name of work.keys()) t.strictSame(work.get(name), work.get('unknown'), name);
});

t.test('says it for 30 days, and keeps nothing longer', async (t) => {
  const { service, create, revoke, expire, kept } = await createSetting(t);
  const revoked = await revoke(await create());
  const over = await expire(await create());
  await expireCredentials(service.core);
  t.equal(await sweepSessions({ pool: service.core.store.pool, config: service.core.config }), 0);
  t.match(await kept(), [{ reason: 'expired' }, { reason: 'revoked' }]);
  await service.tamper(`UPDATE ended_verifiers SET ended_at = ended_at - interval '30 days'`);
  t.same(await refusalOf(service, revoked), PLAIN);
  t.same(await refusalOf(service, over), PLAIN);
  await sweepSessions({ pool: service.core.store.pool, config: service.core.config });
  t.same(await kept(), []);
});

t.test('says nothing once the member is deleted, and then erases the rows', async (t) => {
  const { service, agent, create, revoke, kept } = await createSetting(t);
  const revoked = await revoke(await create());
  const left = await newAgent(service);
  const own = newCredential();
  await bootstrap(service, left, own);
  await left.call('POST', REVOKE, { credential_id: own.credential_id });
  const deleted = await agent.call('POST', '/api/v1/me/delete', { confirm_handle: agent.handle });
  t.equal(deleted.status, 200);
  t.same(await refusalOf(service, revoked), PLAIN);
  t.same(await refusalOf(service, agent.credential), PLAIN, 'ended by the deletion');
  await eraseMembers(service.core, { member_id: agent.id });
  t.match(await kept(), [{ credential_id: own.credential_id }], "another member's row stays");
});

t.test('never accepts what is kept of an ended credential', async (t) => {
  const { service, create, revoke, kept } = await createSetting(t);
  const live = await create();
  const { rows } = await service.database.pool.query<{ hash: string }>(
    'SELECT hash FROM verifiers WHERE subject_id = $1',
    [live.credential_id],
  );
  const ended = await revoke(live);
  const [row] = await kept();
  t.equal(rows.length, 1);
  t.not(row.hash, rows[0]?.hash, 'another hash than that of the verifier');

  const { credential_id: id } = ended;
  await service.tamper(
    `UPDATE credentials SET state = 'active', revoked_at = NULL WHERE credential_id = $1`,
    [id],
  );
  t.equal((await callMe(service, ended)).status, 401, 'although its credential is active');
  await service.tamper(
    `INSERT INTO verifiers SELECT member_id, 'credential', credential_id, key_id, hash
      FROM ended_verifiers WHERE credential_id = $1`,
    [id],
  );
  t.equal((await callMe(service, ended)).status, 401, 'even as its verifier');
});

t.test('says nothing where the server key of an ended credential is gone', async (t) => {
  const { service, create, revoke } = await createSetting(t);
  const ended = await revoke(await create());
  await service.tamper('UPDATE ended_verifiers SET key_id = 7');
  t.same(await refusalOf(service, ended), PLAIN);
});
