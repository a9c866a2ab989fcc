import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase, newCase, pass } from '../../../harness/cases.ts';
import { patient } from '../../../harness/patient.ts';
import { type Service, startService } from '../../support/service.ts';

const member = async (service: Service) => createCaseCommands(await newAgent(patient(service)));
const SETTINGS = { LIMIT_BOOTSTRAP_ATTEMPTS: '1000' };
const createMembers = (service: Service, count: number) =>
  Promise.all(Array.from({ length: count }, () => member(service)));

t.test('grants one of twenty concurrent claims and refuses the others', async (t) => {
  const service = await startService(t, SETTINGS);
  const author = await member(service);
  const rivals = await createMembers(service, 20);
  for (const lapsed of [false, true]) {
    const id = await createOpenCase(author);
    if (lapsed) {
      await author.note(id);
      await rivals[0]?.claim(id, 1);
      await pass(service, id, 3601);
    }
    const answers = await Promise.all(rivals.map((one) => one.claim(id, lapsed ? 3 : 1)));
    const won = answers.filter(({ status }) => status === 200);
    t.equal(won.length, 1);
    const lost = answers.filter(({ status }) => status === 409);
    t.equal(lost.length, 19);
    t.same([...new Set(lost.map(({ body }) => body.error.reason))], ['wrong_state']);
    const read = await service.call('GET', `/api/v1/cases/${id}`);
    t.same(read.body.case, won[0]?.body.case);
    const { rows } = await service.database.pool.query(
      `SELECT type FROM events WHERE stream_id = 'case-' || $1 ORDER BY stream_version`,
      [id],
    );
    const types = rows.map(({ type }) => type);
    t.same(types.slice(lapsed ? 2 : 1), [...(lapsed ? ['CaseLeaseEnded'] : []), 'CaseClaimed']);
  }
});

t.test('delivers twenty concurrent notes to every feed without a gap', async (t) => {
  const service = await startService(t, SETTINGS);
  const author = await member(service);
  const others = await createMembers(service, 20);
  const id = await createOpenCase(author);
  const answers = await Promise.all(others.map((one) => one.note(id)));
  t.same([...new Set(answers.map(({ status }) => status))], [201]);
  const { rows } = await service.database.pool.query(
    `SELECT member_id, count(*) FILTER (WHERE type = 'case.noted')::int AS notes,
        max(sequence) - count(*) AS missing FROM feed GROUP BY member_id`,
  );
  t.same([...new Set(rows.map(({ missing }) => Number(missing)))], [0]);
  t.same(
    rows.map(({ notes }) => notes).sort((a, b) => a - b),
    [...others.map((_, index) => index + 1), 20],
  );
  const read = await service.call('GET', `/api/v1/cases/${id}`);
  t.equal(read.body.notes.length, 20);
  t.equal(read.body.case.version, 1);
});

t.test('accepts one of a concurrent submission, release and second submission', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await member(service), await member(service)];
  for (let round = 0; round < 5; round++) {
    const id = await createOpenCase(author);
    await ann.claim(id, 1);
    const answers = await Promise.all([ann.submit(id, 2), ann.release(id, 2), ann.submit(id, 2)]);
    t.equal(answers.filter(({ status }) => status < 300).length, 1);
    t.equal(answers.filter(({ status }) => status === 409).length, 2);
  }
});

t.test('answers an exact retry with its receipt at the cost of one write', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await member(service), await member(service)];
  const key = { 'idempotency-key': randomUUID() };
  const open = (more: object = {}) =>
    author.agent.call('POST', '/api/v1/cases', newCase(more), key);
  const both = await Promise.all([open(), open()]);
  t.same(both[0].text, both[1].text);
  t.same(
    both.map(({ status }) => status),
    [201, 201],
  );
  const { id } = both[0].body.case;
  await ann.claim(id, 1);
  const again = await open();
  t.equal(again.status, 201);
  t.equal(again.text, both[0].text, 'the replay shows the state of then');
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal((await open({ title: 'Another' })).body.error.code, 'idempotency_conflict');
  const claim = { expected_version: 1 };
  const elsewhere = await author.agent.call('POST', `/api/v1/cases/${id}/claim`, claim, key);
  t.equal(elsewhere.body.error.code, 'idempotency_conflict');
  t.equal((await author.agent.call('GET', '/api/v1/me')).body.write_budget.used, 1);
  t.equal((await service.call('GET', '/api/v1/cases')).body.cases.length, 1);
  const { rows } = await service.database.pool.query(
    `SELECT event_id FROM feed WHERE type = 'case.opened'`,
  );
  t.same(both[0].body.receipt.event_ids, [rows[0].event_id]);
});

t.test('applies the daily write budget to cases', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '2' });
  const author = await member(service);
  const id = await createOpenCase(author);
  t.equal((await author.note(id)).status, 201);
  const refused = await author.note(id);
  t.equal(refused.status, 429);
  t.equal(refused.body.error.code, 'write_budget_exhausted');
});
