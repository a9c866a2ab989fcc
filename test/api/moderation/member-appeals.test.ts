import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import { addModerator, countClaims, type Moderator } from '../../../harness/moderation.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

type Member = Awaited<ReturnType<typeof newAgent>>;
type Test = Parameters<typeof startService>[0];

const WORDS = 'Nine adverts in an hour';
const TEXT = 'My brother had my key';

/** Two leads, and a member whom the first one disabled and who has appealed. */
async function startAppealed(t: Test, settings: Record<string, string> = {}) {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '600', ...settings });
  const lea = await addModerator(service, 'Lea', 'lead');
  const leo = await addModerator(service, 'Leo', 'lead');
  const member = await newAgent(service);
  const disabled = await disableAndAppeal(service, lea, member);
  return { service, lea, leo, member, disabled };
}

async function disableAndAppeal(
  service: Service,
  lead: Moderator,
  member: Member,
  until: string | null = null,
) {
  const body = { policy: 'spam', message: WORDS, until };
  const disabled = await lead.post(`members/${member.id}/disable`, body);
  if (disabled.status !== 201) throw new Error(disabled.text);
  // An appeal is possible after the undo window.
  await advanceTime(service, '11 minutes');
  const appealed = await ask(service, member, '/appeal', { text: TEXT });
  if (appealed.status !== 202) throw new Error(appealed.text);
  return disabled.body as { event_id: string };
}

const ask = (service: Service, { id, sign_in_key }: Member, path = '', more: object = {}) =>
  service.call('POST', `/api/membership/disabled${path}`, { body: { id, sign_in_key, ...more } });

const signIn = async (service: Service, { id, sign_in_key }: Member) =>
  (await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } })).status;

const itemOf = ({ id }: Member) => `subjects/member/${id}`;

const answer = (
  lead: Moderator,
  member: Member,
  action: 'grant' | 'uphold',
  more: Record<string, unknown> = {},
) => lead.post(`${itemOf(member)}/decisions`, { action, expected_version: 2, ...more });

const undo = (lead: Moderator, { body }: ApiResponse) =>
  lead.post(`decisions/${body.event_id}/undo`, {});

const appealsOf = async (moderator: Moderator) => {
  const { body } = await moderator.get('queue?view=appeals');
  return { count: body.counts.appeals, items: body.items };
};

const claim = (lead: Moderator, { id }: Member, more: object = {}) =>
  lead.post('claims', { subjects: [{ type: 'member', id }], ...more });

/** The code and the reason of a refusal. */
const refusal = ({ status, body }: ApiResponse) => [status, body.error?.code, body.error?.reason];
const SECOND_PERSON = [409, 'state_conflict', 'second_person_required'];
const WRONG_STATE = [409, 'state_conflict', 'wrong_state'];

t.test('shows the appeal of a disabled member in the queue of leads alone', async (t) => {
  const { service, lea, leo, member, disabled } = await startAppealed(t);
  const { count, items } = await appealsOf(leo);
  t.equal(count, 1);
  const [item] = items;
  t.match(item, {
    id: member.id,
    subject: { type: 'member', id: member.id },
    state: 'disabled',
    text: TEXT,
    author: { kind: 'member', name: member.handle, member_id: member.id },
    version: 2,
    claim: null,
    disabling: {
      event_id: disabled.event_id,
      policy: 'spam',
      message: WORDS,
      moderator: { id: lea.id, name: 'Lea' },
      until: null,
    },
    appeal: { state: 'open', text: TEXT },
    decision: { event_id: disabled.event_id, decision: 'disabled', undo_allowed: true },
    allowed_actions: ['grant', 'uphold'],
  });
  const own = await appealsOf(lea);
  t.equal(own.count, 0, 'the lead who disabled the membership cannot decide the appeal');
  t.match(own.items, [{ id: member.id, allowed_actions: [], decision: { undo_allowed: false } }]);
  const details = await leo.get(itemOf(member));
  const { age_seconds: _, ...shown } = item;
  t.match(details, { status: 200, body: { item: shown } });
  t.match(
    details.body.history.map(({ type, text }: { type: string; text: string }) => [type, text]),
    [
      ['MemberDisabled', WORDS],
      ['MemberAppealed', TEXT],
    ],
  );
  for (const role of ['triage', 'moderator', 'auditor'] as const) {
    const other = await addModerator(service, role, role);
    t.same(await appealsOf(other), { count: 0, items: [] }, role);
    const read = await other.get(itemOf(member));
    t.same(refusal(read), [403, 'role_required', undefined], role);
    t.notMatch(read.text, /advert|brother/);
    t.equal((await answer(other, member, 'grant')).status, 403, role);
    t.equal((await claim(other, member)).status, 403, role);
  }
  t.match(await leo.get(`queue?view=appeals&only=member/${member.id}`), {
    body: { items: [{ id: member.id }] },
  });
  t.match(await leo.get(`queue?view=appeals&author=${member.handle}`), {
    body: { items: [{ id: member.id }] },
  });
  t.match(await leo.get('queue?view=appeals&author=nobody_else'), { body: { items: [] } });
});

t.test('lets a second lead grant the appeal, which enables the membership', async (t) => {
  const { service, lea, leo, member } = await startAppealed(t);
  t.same(refusal(await answer(lea, member, 'grant')), SECOND_PERSON);
  t.same(refusal(await answer(lea, member, 'uphold')), SECOND_PERSON);
  const stale = await answer(leo, member, 'grant', { expected_version: 1 });
  t.same(refusal(stale), [409, 'state_conflict', 'version_mismatch']);
  t.match(stale.body.error, { current_version: 2, current_state: 'disabled' });
  const granted = await answer(leo, member, 'grant', { message: 'Sorry' });
  t.match(granted, {
    status: 201,
    body: { status: 'decided', state: 'enabled', version: 3, undo_until: String },
  });
  t.equal(await signIn(service, member), 200);
  t.equal((await member.call('GET', '/api/v1/me')).status, 401, 'what ended stays ended');
  t.same(await appealsOf(leo), { count: 0, items: [] });
  const again = await answer(leo, member, 'uphold', { expected_version: 3 });
  t.same(refusal(again), WRONG_STATE);
  t.match(again.body.error, {
    current_state: 'enabled',
    current_version: 3,
    decision: 'granted',
    decided_by: { name: 'Leo' },
  });
  t.match((await leo.get(itemOf(member))).body.item, {
    state: 'enabled',
    appeal: { state: 'granted' },
    decision: { decision: 'granted', undo_allowed: true, moderator: { name: 'Leo' } },
    allowed_actions: [],
  });
  t.match((await lea.get(itemOf(member))).body.item.decision, { undo_allowed: false });

  t.same(refusal(await undo(lea, granted)), SECOND_PERSON);
  t.match(await undo(leo, granted), { status: 201, body: { state: 'disabled', version: 4 } });
  t.equal(await signIn(service, member), 401);
  t.match((await appealsOf(leo)).items, [{ version: 4, appeal: { state: 'open' } }]);
});

t.test('says to the member after the undo window that the appeal is upheld', async (t) => {
  const { service, lea, leo, member } = await startAppealed(t);
  const message = 'The adverts came from your address';
  const upheld = await answer(leo, member, 'uphold', { message });
  t.match(upheld, { status: 201, body: { status: 'decided', state: 'disabled', version: 3 } });
  const within = await ask(service, member);
  t.match(within.body.appeal, { state: 'open', decided_at: null, message: null });
  t.notMatch(within.text, /upheld|address/);
  t.match(await appealsOf(leo), { count: 0, items: [] });
  await advanceTime(service, '11 minutes');
  const told = await ask(service, member);
  t.match(told.body, {
    status: 'disabled',
    appeal: { state: 'upheld', decided_at: String, message },
    actions: ['export', 'delete'],
  });
  t.notMatch(told.text, /Lea|Leo/, 'no moderator is named');
  t.equal((await ask(service, member, '/appeal', { text: TEXT })).status, 409);
  t.same(refusal(await undo(leo, upheld)), SECOND_PERSON, 'after the window another lead undoes');
  t.same(refusal(await undo(lea, upheld)), SECOND_PERSON, 'but not the lead who was reviewed');
  const lou = await addModerator(service, 'Lou', 'lead');
  t.equal((await undo(lou, upheld)).status, 201);
  t.match((await ask(service, member)).body.appeal, { state: 'open', message: null });
});

t.test('claims an appeal like the other items', async (t) => {
  const { lea, leo, member, service } = await startAppealed(t);
  const lou = await addModerator(service, 'Lou', 'lead');
  t.match((await lea.post('claims', { count: 1, view: 'appeals' })).body.claims, []);
  const next = await leo.post('claims', { count: 1, view: 'appeals' });
  t.match(next.body.claims, [
    {
      note_id: null,
      subject: { type: 'member', id: member.id },
      item: { id: member.id, claim: { mine: true } },
    },
  ]);
  t.match((await leo.get('queue?view=mine')).body, {
    items: [{ id: member.id }],
    counts: { mine: 1 },
  });
  t.match((await lou.post('claims', { count: 1, view: 'appeals' })).body.claims, []);
  const held = await claim(lou, member);
  t.same(refusal(held), [409, 'state_conflict', 'claimed_by_other']);
  t.match(held.body.error, { subject: { type: 'member', id: member.id } });
  t.same(refusal(await answer(lou, member, 'grant')), [409, 'state_conflict', 'claimed_by_other']);
  t.match((await lou.get(itemOf(member))).body.item.allowed_actions, []);
  t.equal((await claim(lou, member, { take_over: true })).status, 200);
  t.match((await leo.get('audit?order=newest&limit=1')).body.entries, [
    { type: 'ClaimTakenOver', subject: { type: 'member', id: member.id }, data: { from: leo.id } },
  ]);
  const upheld = await answer(leo, member, 'uphold', { take_over: true });
  t.equal(upheld.status, 201, upheld.text);
  t.equal(await countClaims(lou), 0, 'the decision ends the claim');
  t.same(refusal(await claim(lou, member)), WRONG_STATE);
  const unknown = '6f6c7d4e-0000-4000-8000-000000000001';
  t.equal((await lou.post('claims', { subjects: [{ type: 'member', id: unknown }] })).status, 404);
});

t.test('accepts one of two decisions on an appeal that two leads make together', async (t) => {
  const { service, lea, leo, member } = await startAppealed(t);
  const lou = await addModerator(service, 'Lou', 'lead');
  const others = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const other = await newAgent(service);
      await lea.post(`members/${other.id}/disable`, { policy: 'spam' });
      return other;
    }),
  );
  await advanceTime(service, '11 minutes');
  for (const other of others) await ask(service, other, '/appeal', { text: TEXT });
  for (const [index, one] of [member, ...others].entries()) {
    const lift = () => leo.post(`members/${one.id}/enable`, {});
    const answers = await Promise.all([
      answer(lou, one, index % 2 === 0 ? 'uphold' : 'grant'),
      index % 2 === 0 ? answer(leo, one, 'grant') : lift(),
    ]);
    t.equal(answers.filter(({ status }) => status === 201).length, 1);
    for (const other of answers.filter(({ status }) => status !== 201))
      t.same(refusal(other), WRONG_STATE);
    const { body } = await leo.get(itemOf(one));
    t.equal(body.item.version, 3);
    t.equal(await signIn(service, one), body.item.state === 'enabled' ? 200 : 401);
  }
});

t.test('counts a lift by another lead as granted', async (t) => {
  const { service, lea, leo, member } = await startAppealed(t);
  t.equal((await claim(leo, member)).status, 200);
  t.same(refusal(await lea.post(`members/${member.id}/enable`, {})), SECOND_PERSON);
  t.equal((await leo.post(`members/${member.id}/enable`, {})).status, 201);
  t.equal(await countClaims(leo), 0);
  t.same(await appealsOf(leo), { count: 0, items: [] });
  t.match((await leo.get(itemOf(member))).body.item, {
    state: 'enabled',
    appeal: { state: 'granted' },
    decision: { decision: 'enabled' },
  });
  t.same(refusal(await answer(leo, member, 'uphold', { expected_version: 3 })), WRONG_STATE);
  t.equal(await signIn(service, member), 200);
});

t.test('counts the undo of the disabling by another lead as granted', async (t) => {
  const { service, lea, leo, member, disabled } = await startAppealed(t);
  const undoDisabling = (lead: Moderator) => lead.post(`decisions/${disabled.event_id}/undo`, {});
  t.same(refusal(await undoDisabling(lea)), SECOND_PERSON);
  t.equal(await signIn(service, member), 401);
  t.match(await undoDisabling(leo), { status: 201, body: { state: 'enabled' } });
  t.same(await appealsOf(lea), { count: 0, items: [] });
  const { rows } = await service.database.pool.query('SELECT state FROM member_appeals');
  t.same(rows, [{ state: 'granted' }]);
  t.equal(await signIn(service, member), 200);
  t.same(refusal(await undoDisabling(leo)), WRONG_STATE);
});

t.test('takes the appeal from the queue when the account is deleted', async (t) => {
  const { service, leo, member } = await startAppealed(t);
  t.equal((await claim(leo, member)).status, 200);
  const exported = await ask(service, member, '/export');
  t.match(exported.body.disabling_appeals, [{ text: TEXT, state: 'open' }]);
  const [deleted, decided] = await Promise.all([
    ask(service, member, '/delete', { confirm_handle: member.handle, erase_notes: true }),
    answer(leo, member, 'uphold'),
  ]);
  t.equal(deleted.status, 200, deleted.text);
  t.ok([201, 404].includes(decided.status), decided.text);
  t.same(await appealsOf(leo), { count: 0, items: [] });
  t.equal(await countClaims(leo), 0);
  for (const gone of [
    await leo.get(itemOf(member)),
    await answer(leo, member, 'grant', { expected_version: 3 }),
    await claim(leo, member),
  ])
    t.same(refusal(gone), [404, 'not_found', undefined]);
});

t.test('takes the appeal from the queue when the time of the disabling is over', async (t) => {
  const service = await startService(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  const leo = await addModerator(service, 'Leo', 'lead');
  const member = await newAgent(service);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await disableAndAppeal(service, lea, member, until);
  t.match((await appealsOf(leo)).items, [{ disabling: { until } }]);
  await service.tamper('UPDATE members SET disabled_until = clock_timestamp()');
  t.same(await appealsOf(leo), { count: 0, items: [] });
  t.match((await leo.get(itemOf(member))).body.item, {
    state: 'enabled',
    appeal: { state: 'open' },
  });
  t.same(refusal(await claim(leo, member)), WRONG_STATE);
  t.match((await leo.post('claims', { count: 1, view: 'appeals' })).body.claims, []);
  t.equal(await signIn(service, member), 200);
});

t.test('refuses actions that the kind of an item does not have', async (t) => {
  const { service, leo, member } = await startAppealed(t);
  for (const action of ['remove', 'restore', 'keep'] as const) {
    const body = {
      action,
      expected_version: 2,
      ...(action === 'remove' ? { policy: 'spam' } : {}),
    };
    t.match(await leo.post(`${itemOf(member)}/decisions`, body), {
      status: 400,
      body: { error: { issues: [{ path: 'action' }] } },
    });
  }
  const other = await newAgent(service);
  t.match(
    await leo.post(`subjects/profile/${other.id}/decisions`, {
      action: 'grant',
      expected_version: 1,
    }),
    { status: 400, body: { error: { issues: [{ path: 'action' }] } } },
  );
});

t.test('shows a lead any membership, disabled or not', async (t) => {
  const service = await startService(t);
  const leo = await addModerator(service, 'Leo', 'lead');
  const member = await newAgent(service);
  t.match((await leo.get(itemOf(member))).body, {
    item: { state: 'enabled', version: 0, disabling: null, appeal: null, decision: null },
    history: [],
  });
  t.same(refusal(await claim(leo, member)), WRONG_STATE);
  const disabled = await leo.post(`members/${member.id}/disable`, { policy: 'spam' });
  t.match((await leo.get(itemOf(member))).body.item, {
    state: 'disabled',
    version: 1,
    decision: { decision: 'disabled', undo_allowed: true, told_at: null },
    allowed_actions: [],
  });
  t.match(await undo(leo, disabled), { body: { version: 2 } });
  t.match((await leo.get(itemOf(member))).body.item, {
    state: 'enabled',
    version: 2,
    disabling: null,
    decision: null,
  });
});

t.test("sends each lead's number of appeals to the console", async (t) => {
  const { service, lea, leo } = await startAppealed(t);
  const auditor = await addModerator(service, 'Aud', 'auditor');
  for (const [moderator, appeals] of [
    [leo, 1],
    [lea, 0],
    [auditor, 0],
  ] as const) {
    const headers = { authorization: `Bearer ${moderator.token}` };
    const stream = await openEventStream(t, `${service.baseUrl}/api/moderation/stream`, headers);
    const { data } = await stream.until('counts');
    t.equal(data.appeals, appeals);
    stream.close();
  }
});

t.test("has an appeal and its answer in the member's export until the deletion", async (t) => {
  const { service, lea, leo, member } = await startAppealed(t);
  const message = 'The adverts came from your address';
  t.equal((await answer(leo, member, 'uphold', { message })).status, 201);
  const comment = 'Ask me before you lift this';
  await leo.post(`${itemOf(member)}/comments`, { text: comment });
  const exported = async () => (await ask(service, member, '/export')).body.disabling_appeals;
  t.match(await exported(), [{ text: TEXT, state: 'open', decided_at: null, message: null }]);
  await advanceTime(service, '11 minutes');
  t.match(await exported(), [{ text: TEXT, state: 'upheld', decided_at: String, message }]);

  const deletion = { confirm_handle: member.handle, erase_notes: true };
  t.equal((await ask(service, member, '/delete', deletion)).status, 200);
  t.equal(await eraseMembers(service.core, { member_id: member.id }), 1);
  const { rows: tables } = await service.database.pool.query(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname IN ('public', 'pgboss')`,
  );
  for (const words of [WORDS, TEXT, message, comment])
    for (const { name } of tables) {
      const { rowCount } = await service.database.pool.query(
        `SELECT FROM ${name} row WHERE row::text LIKE $1`,
        [`%${words}%`],
      );
      t.equal(rowCount, 0, name);
    }
  t.notMatch(service.logged.join(''), new RegExp([WORDS, TEXT, message, comment].join('|')));
  t.equal((await lea.get('queue?view=appeals')).body.items.length, 0);
});

t.test('shows every decision on an appeal in the audit, without words', async (t) => {
  const { service, leo, member } = await startAppealed(t);
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const message = 'The adverts came from your address';
  const upheld = await answer(leo, member, 'uphold', { message });
  await undo(leo, upheld);
  await answer(leo, member, 'grant', { message, expected_version: 4 });
  const { body, text } = await auditor.get(`audit?subject=${member.id}`);
  t.match(
    body.entries.map(({ type, actor, version }: Record<string, unknown>) => [
      type,
      (actor as { name?: string }).name,
      version,
    ]),
    [
      ['MemberDisabled', 'Lea', 1],
      ['MemberAppealUpheld', 'Leo', 3],
      ['MemberDecisionUndone', 'Leo', 4],
      ['MemberAppealGranted', 'Leo', 5],
    ],
  );
  t.notMatch(text, /advert|brother/);
});
