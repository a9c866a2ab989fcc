import { randomUUID } from 'node:crypto';
import t from 'tap';
import { asking, callA2a } from '../../../harness/a2a.ts';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { newCase } from '../../../harness/cases.ts';
import { newKey } from '../../../harness/registration.ts';
import { startService } from '../../support/service.ts';

const CASES = '/api/v1/cases';

t.test('tells a missing route from a missing record in a 404', async (t) => {
  const service = await startService(t);
  const messages: [path: string, message: string | RegExp][] = [
    ['/api/v1/nothing', 'No such route: /api/v1/nothing; see /openapi.json.'],
    ['/api/v1/%73tatus', 'No such route: /api/v1/%73tatus; see /openapi.json.'],
    ['/nothing/', 'No such route: /nothing/; see /openapi.json.'],
    ['/nothing?q=1', 'No such route: /nothing; see /openapi.json.'],
    [
      '/api/v1/cases/',
      'No such route: /api/v1/cases/. Use /api/v1/cases, without the slash at the end.',
    ],
    [
      `/api/v1/cases/${randomUUID()}/`,
      /^No such route: .*\/\. Use \/api\/v1\/cases\/[0-9a-f-]{36}, without/,
    ],
    ['/api/v1', 'No such route. Start at /api/v1/discovery, or read /openapi.json.'],
    ['/api/v1/', 'No such route. Start at /api/v1/discovery, or read /openapi.json.'],
    [`/api/v1/cases/${randomUUID()}`, 'Not found: no record with this id.'],
    [`/api/v1/agents/${randomUUID()}`, 'Not found: no record with this id.'],
    ['/assets/scripts/none.js', 'Not found: no such file.'],
  ];
  for (const [path, message] of messages) {
    const answer = await service.call('GET', path);
    t.equal(answer.status, 404, path);
    t.match(answer.body, { status: 'not_found', error: { code: 'not_found', message } }, path);
  }
});

t.test('hides a key in the message about an unknown route', async (t) => {
  const service = await startService(t);
  const answer = await service.call('GET', `/api/v1/${newKey()}/`);
  t.equal(answer.body.error.message, 'No such route: /api/v1/(hidden)/; see /openapi.json.');
});

t.test('challenges a refused bearer as RFC 6750 requires', async (t) => {
  const service = await startService(t);
  const reader = await newAgent(service, ['updates:read']);
  const challenge = async (method: string, path: string, authorization?: string) => {
    const answer = await service.call(method, path, {
      ...(method === 'POST' ? { body: newCase() } : {}),
      headers: {
        ...(authorization ? { authorization } : {}),
        ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
      },
    });
    return [answer.status, answer.headers.get('www-authenticate')];
  };
  const unknown = toAuthorization(newCredential());
  const invalid = 'Bearer error="invalid_token"';
  t.same(await challenge('GET', '/api/v1/me'), [401, 'Bearer'], 'no Authorization header');
  t.same(await challenge('GET', '/api/v1/me', 'Basic YTpi'), [401, 'Bearer'], 'another scheme');
  t.same(await challenge('GET', '/api/v1/me', unknown), [401, invalid]);
  t.same(await challenge('GET', '/api/v1/me', 'bearer x'), [401, invalid]);
  t.same(await challenge('GET', '/api/moderation/me'), [401, 'Bearer']);
  t.same(await challenge('GET', '/api/moderation/me', unknown), [401, invalid]);
  t.same(
    await challenge('GET', '/api/membership/me'),
    [401, null],
    'a session route has no challenge',
  );
  t.same(await challenge('POST', CASES, reader.authorization), [
    403,
    'Bearer error="insufficient_scope", scope="case:create"',
  ]);
  const wrong = await bootstrap(service, { ...reader, sign_in_key: newKey() }, newCredential());
  t.same([wrong.status, wrong.headers.get('www-authenticate')], [401, 'Bearer']);
  const a2a = await callA2a(service, { authorization: unknown }, asking('case.list'));
  t.same([a2a.status, a2a.headers.get('www-authenticate')], [401, invalid]);
});

t.test('states limit, use and reset time of a spent write budget', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '1' });
  const agent = await newAgent(service);
  await agent.call('POST', CASES, newCase());
  const refused = await agent.call('POST', CASES, newCase());
  const { write_budget } = (await agent.call('GET', '/api/v1/me')).body;
  t.equal(refused.status, 429);
  t.match(refused.body.error, { ...write_budget, retry_after: 600 });
  t.match(refused.body.error.resets_at, /T00:00:00\.000Z$/);
  t.equal(refused.headers.get('retry-after'), '600');
  const a2a = await callA2a(service, agent, asking('case.create', newCase(), randomUUID()));
  t.match(a2a.body.error.data[0].metadata, {
    limit: '1',
    used: '1',
    resets_at: write_budget.resets_at,
  });
});

t.test('lists the active credentials in a refusal, the first to expire first', async (t) => {
  const service = await startService(t, { LIMIT_ACTIVE_CREDENTIALS: '3' });
  const agent = await newAgent(service);
  const sooner = { ...newCredential(), expires_at: agent.credential.expires_at - 600 };
  const revoked = newCredential();
  for (const credential of [sooner, revoked]) await bootstrap(service, agent, credential);
  await agent.call('POST', '/api/v1/me/credentials/revoke', {
    credential_id: revoked.credential_id,
  });
  const later = { ...newCredential(), expires_at: agent.credential.expires_at + 600 };
  await bootstrap(service, agent, later);
  const refused = await bootstrap(service, agent, newCredential());
  t.equal(refused.status, 409);
  t.match(refused.body.error, {
    reason: 'active_credential_limit',
    message: 'You have reached the limit of active credentials.',
    limit: 3,
  });
  t.same(
    refused.body.error.active_credentials,
    [sooner, agent.credential, later].map(({ credential_id, expires_at }) => ({
      credential_id,
      expires_at,
    })),
  );
});
