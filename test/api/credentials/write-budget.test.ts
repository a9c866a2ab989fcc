import { randomUUID } from 'node:crypto';
import t from 'tap';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { newCase } from '../../../harness/cases.ts';
import { patient } from '../../../harness/patient.ts';
import { startService } from '../../support/service.ts';

const CASES = '/api/v1/cases';
const REVOKE = '/api/v1/me/credentials/revoke';

t.test('accepts exactly 200 of 250 concurrent writes', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(patient(service));
  const answers = await Promise.all(
    Array.from({ length: 250 }, async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const body = newCase();
      return { answer: await agent.call('POST', CASES, body, headers), body, headers };
    }),
  );
  const accepted = answers.filter(({ answer }) => answer.status === 201);
  t.equal(accepted.length, 200);
  for (const { answer } of answers.filter(({ answer }) => answer.status !== 201)) {
    t.equal(answer.status, 429);
    t.equal(answer.body.error.code, 'write_budget_exhausted');
    t.equal(answer.headers.get('retry-after'), '600');
  }
  const { rows } = await service.database.pool.query('SELECT count(*)::int FROM cases');
  t.equal(rows[0].count, 200);
  const me = await agent.call('GET', '/api/v1/me');
  t.match(me.body.write_budget, { limit: 200, used: 200 });

  const [first] = accepted;
  if (!first) throw new Error('no write was accepted');
  const replay = await agent.call('POST', CASES, first.body, first.headers);
  t.equal(replay.status, 201, 'an exact retry is answered when the budget is spent');
  t.equal(replay.text, first.answer.text);
  const missing = await agent.call('POST', `${CASES}/${randomUUID()}/withdraw`, {
    expected_version: 1,
  });
  t.equal(missing.status, 404, 'another refusal takes precedence over the spent budget');
  const own = await agent.call('POST', REVOKE, { credential_id: agent.credential.credential_id });
  t.equal(own.status, 200, 'a revocation needs no budget');
});

t.test('resets the write budget on the next day', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '1' });
  const agent = await newAgent(service);
  const write = async () => (await agent.call('POST', CASES, newCase())).status;
  t.same([await write(), await write()], [201, 429]);
  await service.database.pool.query('UPDATE write_budgets SET day = day - 1');
  t.match((await agent.call('GET', '/api/v1/me')).body.write_budget, { limit: 1, used: 0 });
  t.same([await write(), await write()], [201, 429]);
});

t.test('counts accepted writes per member, and no refusals or bootstraps', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '2' });
  const agent = await newAgent(service);
  const second = newCredential();
  await bootstrap(service, agent, second);
  const authorization = toAuthorization(second);
  t.equal((await agent.call('POST', CASES, { ...newCase(), title: '' })).status, 400);
  t.equal((await agent.call('POST', CASES, newCase({ artifact_id: randomUUID() }))).status, 409);
  t.equal((await agent.call('POST', CASES, newCase())).status, 201);
  t.equal((await agent.call('POST', CASES, newCase(), { authorization })).status, 201);
  for (const headers of [{}, { authorization }])
    t.equal((await agent.call('POST', CASES, newCase(), headers)).status, 429);
  const other = await newAgent(service);
  t.equal((await other.call('POST', CASES, newCase())).status, 201);
});

t.test('records no write after a revocation that races with a hundred writes', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(patient(service));
  const manager = newCredential();
  await bootstrap(service, agent, manager);
  const writes = Array.from({ length: 100 }, () => agent.call('POST', CASES, newCase()));
  await Promise.race(writes);
  const revoked = await agent.call(
    'POST',
    REVOKE,
    { credential_id: agent.credential.credential_id },
    { authorization: toAuthorization(manager) },
  );
  t.equal(revoked.status, 200);
  const answers = await Promise.all(writes);
  const accepted = answers.filter(({ status }) => status === 201).length;
  for (const { status } of answers) t.ok([201, 401].includes(status), String(status));
  const { rows } = await service.database.pool.query(
    `SELECT type FROM feed WHERE member_id = $1 ORDER BY sequence`,
    [agent.id],
  );
  const types = rows.map(({ type }) => type);
  t.equal(types.filter((type) => type === 'case.opened').length, accepted);
  t.equal(types.at(-1), 'credential.revoked');
  t.equal((await agent.call('POST', CASES, newCase())).status, 401);
});
