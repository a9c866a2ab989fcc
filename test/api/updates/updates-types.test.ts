import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { publishProfile } from '../../../harness/records.ts';
import { startService } from '../../support/service.ts';

const UPDATES = '/api/v1/updates';
const typesOf = ({ body }: { body: { events: { type: string }[] } }) =>
  body.events.map(({ type }) => type);
const after = (cursor: string, more = '') =>
  `${UPDATES}?cursor=${encodeURIComponent(cursor)}${more}`;

t.test('starts at the newest event with start=now', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const now = await agent.call('GET', `${UPDATES}?start=now`);
  t.match(now.body, { events: [], has_more: false });
  await publishProfile(agent);
  const next = await agent.call('GET', after(now.body.next_cursor));
  t.same(typesOf(next), ['profile.published']);

  const both = await agent.call('GET', after(now.body.next_cursor, '&start=now'));
  t.match(both, { status: 400, body: { error: { issues: [{ path: 'start' }] } } });
});

t.test('returns only events of the wanted types, with their own sequence', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await publishProfile(agent);
  await publishProfile(agent, 'Ada L.');
  const all = await agent.call('GET', UPDATES);
  const some = await agent.call('GET', `${UPDATES}?types=credential.*,profile.published`);
  t.same(
    some.body.events,
    all.body.events.filter(({ type }: { type: string }) => /^(credential|profile)\./.test(type)),
  );
  t.equal(some.body.next_cursor, all.body.next_cursor, 'passes the events of other types, too');

  const first = await agent.call('GET', `${UPDATES}?types=profile.*&limit=1`);
  t.match(first.body, { events: [{ type: 'profile.published' }], has_more: true });
  const second = await agent.call('GET', after(first.body.next_cursor, '&types=profile.*'));
  t.equal(second.body.events.length, 1);
  const none = await agent.call('GET', `${UPDATES}?types=case.*`);
  t.match(none.body, { events: [], has_more: false, next_cursor: all.body.next_cursor });
});

t.test('waits on when an event of another type arrives', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const now = await agent.call('GET', `${UPDATES}?start=now`);
  const waiting = agent.call(
    'GET',
    after(now.body.next_cursor, '&types=profile.withdrawn&wait=20'),
  );
  await publishProfile(agent);
  await agent.call('POST', '/api/v1/me/profile/withdraw', {});
  t.same(typesOf(await waiting), ['profile.withdrawn']);
});

t.test('advances through a long feed without wanted events', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const { rows } = await service.database.pool.query<{ sequence: string }>(
    'SELECT sequence FROM feed_heads WHERE member_id = $1',
    [agent.id],
  );
  const head = Number(rows[0]?.sequence);
  const { next_cursor } = (await agent.call('GET', `${UPDATES}?start=now`)).body;
  // A long run of copies of the newest entry, and at its end one of the first.
  await service.tamper(
    `INSERT INTO feed (member_id, sequence, event_id, type, occurred_at, subject_type, subject_id,
       actor, data)
     SELECT member_id, $2 + n, gen_random_uuid(), type, occurred_at, subject_type, subject_id, actor,
       data
     FROM generate_series(1, 12000) n
     JOIN feed ON member_id = $1 AND sequence = CASE n WHEN 12000 THEN 1 ELSE $2 END`,
    [agent.id, head],
  );
  await service.tamper('UPDATE feed_heads SET sequence = $2 WHERE member_id = $1', [
    agent.id,
    head + 12_000,
  ]);
  let page = await agent.call('GET', after(next_cursor, '&types=member.*'));
  let pages = 1;
  for (; page.body.events.length === 0; pages++) {
    t.ok(page.body.has_more);
    page = await agent.call('GET', after(page.body.next_cursor, '&types=member.*'));
  }
  t.equal(pages, 3);
  t.match(page.body, { events: [{ sequence: head + 12_000 }], has_more: false });
});

t.test('refuses types that are not well formed', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  for (const types of ['', 'case', '*', 'case.*,', 'Case.*', `case.*${',a.b'.repeat(20)}`]) {
    const answer = await agent.call('GET', `${UPDATES}?types=${encodeURIComponent(types)}`);
    t.match(answer, { status: 400, body: { error: { issues: [{ path: 'types' }] } } }, types);
  }
});
