import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type Agent, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { type Service, startService } from '../../support/service.ts';

const LIST = '/api/v1/me/credentials';

/** Creates a credential with a label, which `bootstrap` does not have. */
function create(service: Service, { id, sign_in_key }: Agent, label: unknown) {
  const credential = { ...newCredential(), label };
  const body = { member_id: id, sign_in_key, ...credential };
  const headers = { 'idempotency-key': randomUUID() };
  const send = () => service.call('POST', '/api/v1/credentials', { body, headers });
  return { credential, send, authorization: toAuthorization(credential) };
}

t.test('shows the label of a credential wherever it shows the credential', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const label = 'Läptop — 2nd “agent”';
  const { credential, send, authorization } = create(service, agent, label);
  const made = await send();
  t.match(made, { status: 201, body: { credential: { label } } });
  t.equal((await send()).text, made.text, 'a repeat gets the same answer');
  const { body } = await agent.call('GET', LIST);
  t.same(
    body.credentials.map((listed: { label?: string }) => listed.label),
    [label, undefined],
  );
  const me = await service.call('GET', '/api/v1/me', { headers: { authorization } });
  t.equal(me.body.credential.label, label);
  const exported = await agent.call('GET', '/api/v1/me/export');
  t.match(exported.body.credentials[0], { label });
  const { credential_id } = credential;
  const revoked = await agent.call('POST', `${LIST}/revoke`, { credential_id });
  t.match(revoked, { status: 200, body: { credential: { state: 'revoked', label } } });
});

t.test('keeps the label in a rotation that gives none', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const first = create(service, agent, 'first');
  await first.send();
  const rotate = (authorization: string, body: object) =>
    agent.call('POST', `${LIST}/rotate`, body, { authorization });
  const second = newCredential();
  const kept = await rotate(first.authorization, second);
  t.match(kept, { status: 201, body: { credential: { label: 'first' } } });
  const changed = await rotate(toAuthorization(second), { ...newCredential(), label: 'second' });
  t.match(changed, { status: 201, body: { credential: { label: 'second' } } });
  const none = await rotate(agent.authorization, newCredential());
  t.notOk('label' in none.body.credential);
});

t.test('refuses a label without visible characters, or of more than 60', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  for (const label of ['', ' \u200b', 'x'.repeat(61), 7, null])
    t.match(await create(service, agent, label).send(), {
      status: 400,
      body: { error: { issues: [{ path: 'label' }] } },
    });
  t.equal((await create(service, agent, '🦉'.repeat(60)).send()).status, 201);
});
