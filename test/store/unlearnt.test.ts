import { randomUUID } from 'node:crypto';
import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { newKey, newRegistration } from '../../harness/registration.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { testDatabase } from '../support/database.ts';
import { keepRequestTime } from '../support/request-time.ts';
import { startService } from '../support/service.ts';

keepRequestTime(t);

const KEY = '7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f';

t.test('reports an unknown outcome, also to callers without a bearer', async (t) => {
  const database = await testDatabase(t);
  const proxy = await wireProxy(t, database.url);
  const service = await startService(t, {
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: database.url,
  });
  const headers = { 'idempotency-key': KEY };
  const post = (path: string, body: object) => service.call('POST', path, { body, headers });

  const member = newRegistration();
  const { id, sign_in_key, recovery_key } = member;
  const credential = {
    member_id: id,
    sign_in_key,
    credential_id: randomUUID(),
    credential_secret: newKey(),
    scopes: ['updates:read'],
    expires_at: Math.floor(Date.now() / 1000) + 3600,
  };
  const recovery = {
    id,
    recovery_key,
    new_sign_in_key: newKey(),
    new_recovery_key: newKey(),
    operation_id: randomUUID(),
  };
  for (const [event, path, body] of [
    ['MemberRegistered', '/api/membership/register', member],
    ['SessionStarted', '/api/membership/login', { id, sign_in_key }],
    ['CredentialCreated', '/api/v1/credentials', credential],
    ['MemberRecovered', '/api/membership/recover', recovery],
  ] as const) {
    // All bytes are held, so the query for the outcome of the transaction gets no answer either.
    proxy.dropCommitReply(event, true);
    const answer = await post(path, body);
    proxy.release();
    t.equal(answer.status, 503, path);
    t.equal(answer.body.status, 'outcome_unconfirmed', path);
    const again = await post(path, body);
    t.ok([200, 201].includes(again.status), `${path}: a retry settles it`);
  }
});

t.test('reports a claim without a COMMIT reply as unconfirmed; its key replays it', async (t) => {
  const database = await testDatabase(t);
  const proxy = await wireProxy(t, database.url);
  const service = await startService(t, {
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: database.url,
  });
  const ann = await addModerator(service, 'ann');
  await submit(service);
  const claim = () =>
    service.call('POST', '/api/moderation/claims', {
      body: { count: 1 },
      headers: { authorization: `Bearer ${ann.token}`, 'idempotency-key': KEY },
    });
  proxy.dropCommitReply('INTO note_leases', true);
  const answer = await claim();
  proxy.release();
  t.equal(proxy.fired(), 1);
  t.equal(answer.body.status, 'outcome_unconfirmed');
  const { leases } = (await ann.get('me')).body;
  t.equal(leases.length, 1, 'the claim was made');
  const again = await claim();
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(again.body.claims[0].lease_id, leases[0].lease_id);
});
