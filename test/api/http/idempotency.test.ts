import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent, newCredential } from '../../../harness/agent.ts';
import { patient } from '../../../harness/patient.ts';
import { newKey } from '../../../harness/registration.ts';
import { type Service, startService } from '../../support/service.ts';

const REVOKE = '/api/v1/me/credentials/revoke';
const BOOTSTRAP = '/api/v1/credentials';

const eventCount = async (service: Service): Promise<number> =>
  (await service.database.pool.query('SELECT count(*)::int AS count FROM events')).rows[0].count;

t.test('answers an exact retry with the same bytes and changes nothing', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const body = { member_id: agent.id, sign_in_key: agent.sign_in_key, ...newCredential() };
  const headers = { 'idempotency-key': randomUUID() as string };
  const first = await service.call('POST', BOOTSTRAP, { body, headers });
  t.equal(first.status, 201);
  t.equal(first.headers.get('idempotency-replayed'), null);
  const before = await eventCount(service);
  const reordered = Object.fromEntries(Object.entries(body).reverse());
  for (const again of [body, reordered]) {
    const replay = await service.call('POST', BOOTSTRAP, { body: again, headers });
    t.equal(replay.status, 201);
    t.equal(replay.text, first.text);
    t.equal(replay.headers.get('idempotency-replayed'), 'true');
  }
  const upper = { 'idempotency-key': headers['idempotency-key'].toUpperCase() };
  t.equal((await service.call('POST', BOOTSTRAP, { body, headers: upper })).text, first.text);
  const quoted = { 'idempotency-key': `"${upper['idempotency-key']}"` };
  t.equal((await service.call('POST', BOOTSTRAP, { body, headers: quoted })).text, first.text);
  t.equal(await eventCount(service), before);
});

t.test('takes a key bare or in double quotes, and in no other form', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const key = randomUUID();
  const ends = ['"', '""', "'", '`', '" '];
  for (const sent of [...ends.map((end) => `${end}${key}${end}`), `"${key}`, `${key}"`, '""']) {
    const answer = await agent.call('POST', REVOKE, {}, { 'idempotency-key': sent });
    t.equal(
      answer.body.error.code,
      sent === `"${key}"` ? 'invalid_request' : 'invalid_idempotency_key',
      sent,
    );
  }
});

t.test('refuses a key that was used for another request', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const body = { member_id: agent.id, sign_in_key: agent.sign_in_key, ...newCredential() };
  const headers = { 'idempotency-key': randomUUID() };
  await service.call('POST', BOOTSTRAP, { body, headers });
  const before = await eventCount(service);
  const others: [string, object][] = [
    [BOOTSTRAP, { ...body, expires_at: body.expires_at + 1 }],
    [BOOTSTRAP, { ...body, credential_secret: newKey() }],
    [REVOKE, { credential_id: body.credential_id }],
  ];
  for (const [path, other] of others) {
    const answer = await agent.call('POST', path, other, headers);
    t.equal(answer.status, 409, path);
    t.equal(answer.body.error.code, 'idempotency_conflict');
  }
  t.equal(await eventCount(service), before);
});

t.test('forgets a refusal, so that the same key may succeed later', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const key = { 'idempotency-key': randomUUID() };
  const unknown = { credential_id: randomUUID() };
  t.equal((await agent.call('POST', REVOKE, unknown, key)).status, 409);
  const own = { credential_id: agent.credential.credential_id };
  t.equal((await agent.call('POST', REVOKE, own, key)).status, 200);
});

t.test('lets two members use the same key', async (t) => {
  const service = await startService(t);
  const key = { 'idempotency-key': randomUUID() };
  for (const agent of [await newAgent(service), await newAgent(service)]) {
    const body = { credential_id: agent.credential.credential_id };
    const answer = await agent.call('POST', REVOKE, body, key);
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('idempotency-replayed'), null);
  }
});

t.test('stores one of fifty identical concurrent writes and answers all alike', async (t) => {
  const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '1000' });
  const agent = await newAgent(service);
  const body = { member_id: agent.id, sign_in_key: agent.sign_in_key, ...newCredential() };
  const headers = { 'idempotency-key': randomUUID() };
  const before = await eventCount(service);
  const write = () => patient(service).call('POST', BOOTSTRAP, { body, headers });
  const answers = await Promise.all(Array.from({ length: 50 }, write));
  t.equal(await eventCount(service), before + 1);
  t.same([...new Set(answers.map(({ status }) => status))], [201]);
  t.equal(new Set(answers.map(({ text }) => text)).size, 1);
  const firstAnswers = answers.filter(
    ({ headers }) => headers.get('idempotency-replayed') === null,
  );
  t.equal(firstAnswers.length, 1);
});
