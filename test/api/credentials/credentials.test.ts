import { randomUUID } from 'node:crypto';
import t from 'tap';
import {
  bootstrap,
  inSeconds,
  newAgent,
  newCredential,
  toAuthorization,
} from '../../../harness/agent.ts';
import { patient } from '../../../harness/patient.ts';
import { newKey, newRegistration } from '../../../harness/registration.ts';
import { contentHash } from '../../../platform/json.ts';
import { whileWaitingForLock } from '../../support/meanwhile.ts';
import { readFeed } from '../../support/passing-time.ts';
import { startService } from '../../support/service.ts';

const ROTATE = '/api/v1/me/credentials/rotate';
const REVOKE = '/api/v1/me/credentials/revoke';

t.test('creates a credential with the sign-in key and accepts its bearer', async (t) => {
  const service = await startService(t);
  const member = newRegistration();
  await service.call('POST', '/api/membership/register', { body: member });
  const credential = newCredential(['updates:read', 'credential:manage']);
  const key = randomUUID();
  const created = await bootstrap(service, member, credential, key);
  t.equal(created.status, 201);
  const { credential_secret, ...publicPart } = credential;
  t.match(created.body, {
    status: 'created',
    credential: {
      ...publicPart,
      member_id: member.id,
      scopes: ['credential:manage', 'updates:read'],
      state: 'active',
      created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    },
    receipt: {
      operation_id: key,
      operation: 'credential.bootstrap',
      member_id: member.id,
      body_hash: contentHash({
        member_id: member.id,
        sign_in_key: 'redacted',
        ...credential,
        credential_secret: 'redacted',
      }),
    },
  });
  t.equal(created.headers.get('cache-control'), 'no-store');
  const { rows } = await service.database.pool.query(
    `SELECT event_id FROM feed WHERE type = 'credential.created'`,
  );
  t.same(created.body.receipt.event_ids, [rows[0].event_id]);

  const headers = { authorization: toAuthorization(credential) };
  const me = await service.call('GET', '/api/v1/me', { headers });
  t.equal(me.status, 200);
  t.match(me.body, {
    status: 'ok',
    member: { id: member.id, handle: member.handle },
    credential: created.body.credential,
    write_budget: { limit: 200, used: 0, resets_at: /T00:00:00\.000Z$/ },
  });
  const everything = service.logged.join('') + created.text + me.text;
  t.notMatch(everything, credential_secret);
  t.notMatch(everything, member.sign_in_key);
});

t.test('refuses every kind of wrong bearer with the same error', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const me = (authorization?: string) =>
    service.call('GET', '/api/v1/me', { headers: authorization ? { authorization } : {} });
  t.equal((await me()).body.error.code, 'credential_required');
  const wrong = [
    toAuthorization({ ...agent.credential, credential_secret: newKey() }),
    toAuthorization({ ...agent.credential, credential_id: randomUUID() }),
    agent.authorization.toUpperCase(),
    'Bearer svc_',
    'Basic YTpi',
    `Bearer mod_${randomUUID()}.${newKey()}`,
  ];
  for (const authorization of wrong) {
    const answer = await me(authorization);
    t.equal(answer.status, 401, authorization);
    t.equal(answer.body.error.code, 'credential_not_accepted');
    t.match(answer.headers.get('www-authenticate'), /^Bearer( error="invalid_token")?$/);
  }
  t.equal((await me(agent.authorization.replace('Bearer', 'bEARER'))).status, 200);
});

const uuid = (version: string, variant: string) =>
  randomUUID().replace(/-4(...)-./, `-${version}$1-${variant}`);

t.test('refuses an invalid bootstrap and creates nothing', async (t) => {
  const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '1000' });
  const agent = await newAgent(service);
  const { id, sign_in_key } = agent;
  const send = (body: object, headers: Record<string, string> = {}) =>
    service.call('POST', '/api/v1/credentials', {
      body: { member_id: id, sign_in_key, ...newCredential(), ...body },
      headers: { 'idempotency-key': randomUUID(), ...headers },
    });
  const refused = async (body: object, status: number, code: string, path?: string) => {
    const answer = await send(body);
    t.equal(answer.status, status, JSON.stringify(body));
    t.equal(answer.body.error.code, code);
    if (path) t.match(answer.body.error.issues, [{ path }]);
    return answer;
  };
  await refused({ sign_in_key: newKey() }, 401, 'credential_not_accepted');
  await refused({ member_id: randomUUID() }, 401, 'credential_not_accepted');
  await refused({ sign_in_key: agent.recovery_key }, 401, 'credential_not_accepted');
  await refused({ expires_at: inSeconds(50) }, 400, 'invalid_request', 'expires_at');
  await refused({ expires_at: inSeconds(86_410) }, 400, 'invalid_request', 'expires_at');
  await refused({ scopes: [] }, 400, 'invalid_request', 'scopes');
  await refused({ scopes: ['everything'] }, 400, 'invalid_request', 'scopes.0');
  await refused({ scopes: ['updates:read', 'updates:read'] }, 400, 'invalid_request', 'scopes');
  await refused({ credential_secret: 'short' }, 400, 'invalid_request', 'credential_secret');
  for (const key of [agent.sign_in_key, agent.recovery_key])
    await refused({ credential_secret: key }, 400, 'invalid_request', 'credential_secret');
  for (const key of [agent.sign_in_key, agent.recovery_key]) {
    const next = { ...newCredential(), credential_secret: key };
    const rotated = await agent.call('POST', ROTATE, next);
    t.match([rotated.status, rotated.body.error.issues], [400, [{ path: 'credential_secret' }]]);
  }
  await refused({ more: 1 }, 400, 'invalid_request');
  const used = { credential_id: agent.credential.credential_id };
  const again = await refused(used, 409, 'state_conflict');
  t.equal(again.body.error.reason, 'credential_id_used');
  const other = newRegistration();
  await service.call('POST', '/api/membership/register', { body: other });
  const taken = await bootstrap(service, other, { ...newCredential(), ...used });
  t.equal(
    taken.body.error.reason,
    'credential_id_used',
    'a credential id is unique among all members',
  );
  for (const key of ['', 'no', uuid('1', '8'), uuid('7', '8'), uuid('4', '7'), uuid('4', 'c')]) {
    const keyless = await send({}, { 'idempotency-key': key });
    t.equal(keyless.body.error.code, 'invalid_idempotency_key', key);
  }
  const { rows } = await service.database.pool.query('SELECT count(*)::int FROM credentials');
  t.equal(rows[0].count, 1);
});

t.test('limits bootstrap attempts by address and does not count malformed bodies', async (t) => {
  const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '2' });
  const agent = await newAgent(service);
  const wrong = { ...agent, sign_in_key: newKey() };
  t.equal((await bootstrap(service, wrong, { ...newCredential(), expires_at: -1 })).status, 400);
  t.equal((await bootstrap(service, wrong, newCredential())).status, 401);
  const limited = await bootstrap(service, agent, newCredential());
  t.equal(limited.status, 429);
  t.equal(limited.body.error.code, 'rate_limited');
  t.equal(limited.headers.get('retry-after'), '600');
});

t.test('leaves exactly ten active credentials after twenty concurrent bootstraps', async (t) => {
  const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '1000' });
  const member = newRegistration();
  await service.call('POST', '/api/membership/register', { body: member });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => bootstrap(patient(service), member, newCredential())),
  );
  const created = answers.filter(({ status }) => status === 201);
  t.equal(created.length, 10);
  for (const answer of answers.filter(({ status }) => status !== 201))
    t.equal(answer.body.error.reason, 'active_credential_limit');
});

t.test('replaces a credential by rotation, also at the limit of active credentials', async (t) => {
  const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '1000' });
  const agent = await newAgent(service);
  for (let i = 0; i < 9; i++) await bootstrap(service, agent, newCredential());
  const next = newCredential(['updates:read', 'credential:manage']);
  const key = { 'idempotency-key': randomUUID() };
  const rotated = await agent.call('POST', ROTATE, next, key);
  t.equal(rotated.status, 201);
  t.match(rotated.body, {
    status: 'rotated',
    credential: { credential_id: next.credential_id, state: 'active' },
    revoked_credential_id: agent.credential.credential_id,
  });
  t.equal(rotated.body.receipt.event_ids.length, 2);
  const feed = await readFeed(service, agent.id);
  t.strictSame(
    feed.slice(-2).map(({ type, subject }) => `${type} ${subject}`),
    [
      `credential.rotated ${agent.credential.credential_id}`,
      `credential.created ${next.credential_id}`,
    ],
  );
  t.equal((await agent.call('GET', '/api/v1/me')).status, 401, 'the old bearer is refused');
  t.equal((await agent.call('POST', ROTATE, next, key)).status, 401);

  const authorization = toAuthorization(next);
  const replay = await agent.call('POST', ROTATE, next, { ...key, authorization });
  t.equal(replay.status, 201, 'a retry with the new bearer is answered with the receipt');
  t.equal(replay.text, rotated.text);
  t.equal(replay.headers.get('idempotency-replayed'), 'true');

  const more = await agent.call('POST', ROTATE, newCredential(['case:note']), { authorization });
  t.equal(more.status, 403);
  t.equal(more.body.error.code, 'scope_escalation');
  const narrow = newCredential(['updates:read']);
  t.equal((await agent.call('POST', ROTATE, narrow, { authorization })).status, 201);
  const withoutManage = await agent.call('POST', ROTATE, newCredential(['updates:read']), {
    authorization: toAuthorization(narrow),
  });
  t.equal(withoutManage.status, 403);
  t.match(withoutManage.body.error, { code: 'scope_required', scope: 'credential:manage' });
});

t.test('accepts one of twenty concurrent rotations', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(patient(service));
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => agent.call('POST', ROTATE, newCredential())),
  );
  t.equal(answers.filter(({ status }) => status === 201).length, 1);
  t.equal(answers.filter(({ status }) => status === 401).length, 19);
  const { rows } = await service.database.pool.query(
    `SELECT state, revoked_reason, count(*)::int FROM credentials GROUP BY 1, 2 ORDER BY 1`,
  );
  t.same(rows, [
    { state: 'active', revoked_reason: null, count: 1 },
    { state: 'revoked', revoked_reason: 'rotated', count: 1 },
  ]);
});

t.test("revokes a member's own credential once", async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const stranger = await newAgent(service);
  const second = newCredential();
  await bootstrap(service, agent, second);
  const body = { credential_id: second.credential_id };
  const revoked = await agent.call('POST', REVOKE, body);
  t.equal(revoked.status, 200);
  t.match(revoked.body, {
    status: 'revoked',
    credential: {
      credential_id: second.credential_id,
      state: 'revoked',
      revoked_reason: 'revoked',
    },
  });
  t.equal(
    (await agent.call('GET', '/api/v1/me', undefined, { authorization: toAuthorization(second) }))
      .status,
    401,
  );
  const again = await agent.call('POST', REVOKE, body);
  t.equal(again.status, 200);
  t.same(again.body.credential, revoked.body.credential, 'the credential stays as it was');
  t.same(again.body.receipt.event_ids, []);

  const ofOther = await stranger.call('POST', REVOKE, {
    credential_id: agent.credential.credential_id,
  });
  const unknown = await stranger.call('POST', REVOKE, { credential_id: randomUUID() });
  for (const answer of [ofOther, unknown]) {
    t.equal(answer.status, 409);
    t.equal(answer.body.error.reason, 'credential_unavailable');
  }
  const own = await agent.call('POST', REVOKE, { credential_id: agent.credential.credential_id });
  t.equal(own.status, 200);
  t.equal((await agent.call('GET', '/api/v1/me')).status, 401);
});

t.test('refuses an expired credential before the log records its end', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const manager = newCredential();
  await bootstrap(service, agent, manager);
  await service.tamper(
    `UPDATE credentials SET expires_at = now() - interval '1 second' WHERE credential_id = $1`,
    [agent.credential.credential_id],
  );
  const refused = await agent.call('POST', ROTATE, newCredential());
  t.equal(refused.status, 401);
  t.equal(refused.body.error.code, 'credential_not_accepted');
  const authorization = toAuthorization(manager);
  const body = { credential_id: agent.credential.credential_id };
  const answer = await agent.call('POST', REVOKE, body, { authorization });
  t.equal(answer.body.credential.state, 'expired');
  t.notOk('revoked_at' in answer.body.credential);
});

t.test('frees the place of an expired credential before the log records its end', async (t) => {
  const service = await startService(t, { LIMIT_ACTIVE_CREDENTIALS: '1' });
  const agent = await newAgent(service);
  const atLimit = await bootstrap(service, agent, newCredential());
  t.equal(atLimit.body.error.reason, 'active_credential_limit');
  await service.tamper("UPDATE credentials SET expires_at = now() - interval '1 second'");
  t.equal((await bootstrap(service, agent, newCredential())).status, 201);
});

t.test('refuses a waiting write whose credential ends meanwhile', async (t) => {
  const service = await startService(t);
  for (const end of [
    "UPDATE credentials SET expires_at = now() - interval '1 second'",
    "UPDATE credentials SET state = 'revoked', revoked_at = now(), revoked_reason = 'revoked'",
    'UPDATE members SET key_epoch = key_epoch + 1',
    "UPDATE members SET state = 'deactivated'",
  ]) {
    const agent = await newAgent(service);
    const answer = await whileWaitingForLock(
      service.database.pool,
      'SELECT FROM feed_heads FOR UPDATE',
      () => agent.call('POST', ROTATE, newCredential()),
      () => service.tamper(end),
    );
    t.match(answer, { status: 401, body: { status: 'credential_not_accepted' } }, end);
  }
});

t.test('ends every credential of a member on recovery', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await service.call('POST', '/api/membership/recover', {
    body: {
      id: agent.id,
      recovery_key: agent.recovery_key,
      new_sign_in_key: newKey(),
      new_recovery_key: newKey(),
      operation_id: randomUUID(),
    },
  });
  t.equal((await agent.call('GET', '/api/v1/me')).status, 401);
  t.equal(
    (await bootstrap(service, agent, newCredential())).status,
    401,
    'the old sign-in key is refused',
  );
});
