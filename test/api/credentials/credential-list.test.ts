import { randomUUID } from 'node:crypto';
import t from 'tap';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { startService } from '../../support/service.ts';

const LIST = '/api/v1/me/credentials';
const idsOf = ({ body }: { body: { credentials: { credential_id: string }[] } }) =>
  body.credentials.map(({ credential_id }) => credential_id);

t.test('lists the credentials of a member, newest first and in pages', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const stranger = await newAgent(service);
  const made = [agent.credential.credential_id];
  for (let n = 0; n < 3; n++) {
    const credential = newCredential();
    t.equal((await bootstrap(service, agent, credential)).status, 201);
    made.unshift(credential.credential_id);
  }
  const revoked = made[1];
  await agent.call('POST', `${LIST}/revoke`, { credential_id: revoked });
  const all = await agent.call('GET', LIST);
  t.same(idsOf(all), made);
  t.match(all.body.credentials[1], { state: 'revoked', revoked_reason: 'revoked' });
  t.notMatch(all.text, /secret|hash/);
  const active = await agent.call('GET', `${LIST}?state=active`);
  t.same(
    idsOf(active),
    made.filter((id) => id !== revoked),
  );

  const first = await agent.call('GET', `${LIST}?limit=3`);
  const second = await agent.call('GET', `${LIST}?limit=3&cursor=${first.body.next_cursor}`);
  t.same([...idsOf(first), ...idsOf(second)], made);
  t.equal(second.body.next_cursor, null);
  t.same(idsOf(await stranger.call('GET', LIST)), [stranger.credential.credential_id]);
  t.match(await agent.call('GET', `${LIST}?cursor=none`), { status: 400 });
});

t.test('revokes all credentials but the one of the request', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const others = [newCredential(), newCredential()];
  for (const credential of others) await bootstrap(service, agent, credential);
  const key = { 'idempotency-key': randomUUID() };
  const revoke = () => agent.call('POST', `${LIST}/revoke`, { all_others: true }, key);
  const answer = await revoke();
  t.equal(answer.status, 200, answer.text);
  t.same(idsOf(answer).sort(), others.map(({ credential_id }) => credential_id).sort());
  for (const credential of others) {
    const headers = { authorization: toAuthorization(credential) };
    t.equal((await service.call('GET', '/api/v1/me', { headers })).status, 401);
  }
  t.equal((await agent.call('GET', '/api/v1/me')).status, 200);
  t.same((await revoke()).body, answer.body, 'a repeat gets the same answer');
  const again = await agent.call('POST', `${LIST}/revoke`, { all_others: true });
  t.same(again.body.credentials, []);
  const both = { all_others: true, credential_id: others[0]?.credential_id };
  t.equal((await agent.call('POST', `${LIST}/revoke`, both)).status, 400);
});

t.test('lists credentials only with the scope to manage them', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service, ['updates:read']);
  t.match(await agent.call('GET', LIST), { status: 403, body: { status: 'scope_required' } });
});
