import { randomUUID } from 'node:crypto';
import t from 'tap';
import {
  addModerator,
  countClaims,
  decide,
  submit,
  submitAs,
} from '../../../harness/moderation.ts';
import { newKey, signedIn } from '../../../harness/registration.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime, notifyAuthors, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

type Member = Awaited<ReturnType<typeof signedIn>>;

const post = (service: Service, path: string, body: object, cookie?: string) =>
  service.call('POST', `/api/guestbook/${path}`, { body, cookie });

const typesOf = async (service: Service, { id }: Member) =>
  (await readFeed(service, id)).map(({ type }) => type);

t.test('hides a rejection from its author while it can be undone', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const pending = await submitAs(service, member);
  const rejected = await submitAs(service, member);
  t.equal((await decide(ann, rejected.id, 'reject')).status, 201);
  const readAuthorView = async ({ id }: { id: string }) => {
    const outcome = await service.call('GET', `/api/guestbook/${id}/outcome`, member);
    const appeal = await post(service, `${id}/appeal`, { text: 'Why?' }, member.cookie);
    delete appeal.body.error.request_id;
    return JSON.stringify([outcome.body, appeal.status, appeal.body]).replaceAll(id, 'ID');
  };
  t.equal(await readAuthorView(rejected), await readAuthorView(pending));
  const { cookie } = member;
  const again = await service.call('POST', '/api/guestbook', { body: rejected, cookie });
  t.same(again.body, { status: 'pending_review', id: rejected.id });
  await t.rejects(notifyAuthors(service), /before the undo window has passed/);
  t.same(await typesOf(service, member), ['note.submitted', 'note.submitted']);
});

t.test("hides a rejection also when the web process's clock is an hour ahead", async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const note = await submitAs(service, member);
  await decide(await addModerator(service, 'Ann'), note.id, 'reject');
  const Original = Date;
  const hourAhead = () => Original.now() + 3_600_000;
  t.teardown(() => {
    globalThis.Date = Original;
  });
  globalThis.Date = class extends Original {
    constructor(...given: unknown[]) {
      super(...((given.length > 0 ? given : [hourAhead()]) as [number]));
    }
    static override now = hourAhead;
  } as DateConstructor;
  const { body } = await service.call('GET', `/api/guestbook/${note.id}/outcome`, member);
  t.match(body, { status: 'pending_review', outcome: null, policy: null });
});

t.test('notifies the author after the undo window, and the author appeals', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const member = await signedIn(service);
  const stranger = await signedIn(service);
  const note = await submitAs(service, member);
  const body = { action: 'reject', expected_version: 1, policy: 'abuse', message: 'Be kind.' };
  const decided = await ann.post(`notes/${note.id}/decisions`, body);
  await advanceTime(service, '601 seconds');
  t.equal(await notifyAuthors(service), 1);
  t.equal(await notifyAuthors(service), 0, 'a second run notifies nobody');
  const [, notice] = await readFeed(service, member.id);
  t.match(notice, {
    type: 'note.rejected',
    subject: note.id,
    data: { policy: 'abuse', message: true, decision_id: decided.body.event_id },
  });
  t.strictSame(notice?.actor, { type: 'moderator' }, 'the actor is not identified');
  t.notMatch(JSON.stringify(notice), 'Be kind');
  const own = await service.call('GET', `/api/guestbook/${note.id}/outcome`, member);
  t.match(own.body, { status: 'not_published', outcome: 'rejected', message: 'Be kind.' });
  const days = (Date.parse(own.body.appeal_until) - Date.now()) / 86_400_000;
  t.ok(days > 13.9 && days < 14, 'the appeal period is about 14 days');
  const others = await service.call('GET', `/api/guestbook/${note.id}/outcome`, stranger);
  t.equal(others.status, 404);

  const appeal = (cookie: string) => post(service, `${note.id}/appeal`, { text: 'I was.' }, cookie);
  t.equal((await appeal(stranger.cookie)).status, 404);
  t.equal((await appeal('')).status, 401);
  t.equal((await appeal(member.cookie)).status, 202);
  t.equal((await appeal(member.cookie)).body.error.reason, 'already_appealed');
  const appealed = await service.call('GET', `/api/guestbook/${note.id}/outcome`, member);
  t.match(appealed.body, { outcome: 'rejected', appeal_until: null });

  const [item] = (await bob.get('queue?view=appeals')).body.items;
  t.match(item, {
    id: note.id,
    appeal: { state: 'open', text: 'I was.' },
    allowed_actions: ['grant', 'uphold'],
  });
  t.same((await ann.get('queue?view=appeals')).body.items[0].allowed_actions, []);
  t.same((await ann.post('claims', { count: 1, view: 'appeals' })).body.claims, []);
  const grant = { action: 'grant', expected_version: 3 };
  const first = await ann.post(`notes/${note.id}/decisions`, grant);
  t.equal(first.body.error.reason, 'second_person_required');
  t.match((await bob.post(`notes/${note.id}/decisions`, grant)).body, { state: 'approved' });
  matchAll(t, (await service.call('GET', '/api/guestbook')).body.entries, [{ id: note.id }]);
  t.same((await typesOf(service, member)).slice(2), ['appeal.opened']);
  await advanceTime(service, '601 seconds');
  t.equal(await notifyAuthors(service), 1);
  t.same((await typesOf(service, member)).slice(2), ['appeal.opened', 'appeal.granted']);
});

t.test('keeps an upheld decision and refuses appeals after fourteen days', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const member = await signedIn(service);
  const [one, two] = [await submitAs(service, member), await submitAs(service, member)];
  for (const { id } of [one, two]) await decide(ann, id, 'reject');
  const { cookie } = member;
  t.equal((await post(service, `${one.id}/appeal`, { text: 'Please' }, cookie)).status, 202);
  const uphold = { action: 'uphold', expected_version: 3, message: 'It stands.' };
  t.match((await bob.post(`notes/${one.id}/decisions`, uphold)).body, { state: 'rejected' });
  await notifyAuthors(service);
  t.match((await typesOf(service, member)).at(-1), 'appeal.upheld');
  await advanceTime(service, '15 days');
  const login = await service.call('POST', '/api/membership/login', {
    body: { id: member.id, sign_in_key: member.sign_in_key },
  });
  const session = (login.headers.get('set-cookie') ?? '').split(';')[0];
  const late = await post(service, `${two.id}/appeal`, { text: 'Please' }, session);
  t.equal(late.body.error.reason, 'wrong_state');
  const overdue = await service.call('GET', `/api/guestbook/${two.id}/outcome`, {
    cookie: session,
  });
  t.match(
    overdue.body,
    { outcome: 'rejected', appeal_until: null },
    'refused before the log records the end',
  );
});

t.test('lets a member withdraw a note that a moderator holds', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const stranger = await signedIn(service);
  const note = await submitAs(service, member);
  await ann.post('claims', { count: 1 });
  const withdraw = (cookie?: string) => post(service, `${note.id}/withdraw`, {}, cookie);
  t.equal((await withdraw()).status, 401);
  t.equal((await withdraw(stranger.cookie)).status, 404);
  t.equal((await post(service, `${randomUUID()}/withdraw`, {}, member.cookie)).status, 404);
  const done = await withdraw(member.cookie);
  t.equal(done.status, 200);
  t.same(done.body, { status: 'withdrawn', id: note.id });
  t.equal((await withdraw(member.cookie)).status, 200, 'a second withdrawal succeeds');
  t.equal((await typesOf(service, member)).at(-1), 'note.withdrawn');
  t.same((await ann.get('me')).body.leases, []);
  const late = await decide(ann, note.id, 'approve');
  t.match(late.body.error, { current_state: 'withdrawn' });
  const again = await service.call('POST', '/api/guestbook', { body: note, cookie: member.cookie });
  t.equal(again.body.status, 'not_published');
});

t.test('accepts one report per reporter and settles reports with a decision', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const [member, other] = [await signedIn(service), await signedIn(service)];
  const note = await submit(service);
  const report = (body: object, cookie?: string) =>
    post(service, `${note.id}/report`, body, cookie);
  const hidden = await report({ reason: 'spam' });
  const absent = await post(service, `${randomUUID()}/report`, { reason: 'spam' });
  t.equal(hidden.status, 404);
  t.equal(
    hidden.text.replace(/"request_id":"[^"]+"/, ''),
    absent.text.replace(/"request_id":"[^"]+"/, ''),
  );
  await decide(ann, note.id, 'approve');

  t.equal((await report({ reason: 'taste' })).status, 400);
  for (const _ of [1, 2])
    t.equal((await report({ reason: 'spam', details: 'It sells' }, member.cookie)).status, 202);
  for (const _ of [1, 2]) t.equal((await report({ reason: 'spam' })).status, 202);
  const [key] = service.core.config.serverKeys ?? [];
  const rotated = await startService(t, {
    DATABASE_URL: service.database.url,
    SERVER_KEYS: `2:${newKey()},1:${key?.secret.toString('hex')}`,
  });
  t.equal((await post(rotated, `${note.id}/report`, { reason: 'spam' })).status, 202);
  const [item] = (await ann.get('queue?view=reported')).body.items;
  t.equal(item.reports.length, 2);
  t.match(item.reports[1], { reason: 'spam', details: 'It sells', member_id: member.id });
  t.same(item.allowed_actions, ['keep', 'remove']);
  const keep = { action: 'keep', expected_version: item.version };
  t.equal((await ann.post(`notes/${note.id}/decisions`, keep)).status, 201);
  await advanceTime(service, '601 seconds');
  t.equal(await notifyAuthors(service), 1);
  matchAll(t, await readFeed(service, member.id), [
    { type: 'report.received', data: { reason: 'spam', subject: { id: note.id } } },
    { type: 'report.resolved', data: { outcome: 'kept' } },
  ]);

  t.equal((await report({ reason: 'spam' }, other.cookie)).status, 202);
  t.same(
    (await ann.get('queue?view=reported')).body.items,
    [],
    'a reason that was kept raises no new report',
  );
  const [third, fourth] = [await signedIn(service), await signedIn(service)];
  await report({ reason: 'illegal' }, third.cookie);
  await report({ reason: 'spam' }, fourth.cookie);
  const [again] = (await ann.get('queue?view=reported')).body.items;
  const remove = { action: 'remove', expected_version: again.version, policy: 'illegal' };
  t.equal((await ann.post(`notes/${note.id}/decisions`, remove)).status, 201);
  t.equal((await ann.get('queue')).body.counts.reported, 0);
  await advanceTime(service, '11 minutes');
  await notifyAuthors(service);
  t.match((await readFeed(service, third.id)).at(-1), {
    type: 'report.resolved',
    data: { outcome: 'removed' },
  });
});

t.test('decides while guests go on reporting, and counts those beyond fifty', async (t) => {
  const service = await startService(t, { TRUSTED_PROXIES: '1' });
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  await decide(ann, note.id, 'approve');
  let guests = 0;
  const report = async (reason: string) => {
    const headers = { 'x-forwarded-for': `2001:db8:0:${(++guests).toString(16)}::1` };
    const path = `/api/guestbook/${note.id}/report`;
    const answer = await service.call('POST', path, { body: { reason }, headers });
    t.equal(answer.status, 202, answer.text);
  };
  for (const _ of Array.from({ length: 40 })) await report('spam');
  const { item: read } = (await ann.get(`notes/${note.id}`)).body;
  for (const _ of Array.from({ length: 13 })) await report('abuse');
  const { item } = (await ann.get(`notes/${note.id}`)).body;
  t.equal(item.version, read.version + 10, 'three reports are not in the stream');
  t.match(item, { guest_reporters: 53, reports: { length: 20 } });

  const decideOn = (action: string, more: object = {}) =>
    ann.post(`notes/${note.id}/decisions`, { action, expected_version: read.version, ...more });
  const kept = await decideOn('keep');
  t.equal(kept.status, 201, kept.text);
  const [waiting] = (await ann.get('queue?view=reported')).body.items;
  matchAll(
    t,
    waiting.reports.slice(0, 11).map(({ state }: { state: string }) => state),
    [...Array.from({ length: 10 }, () => 'open'), 'kept'],
  );
  await report('spam');
  t.match((await decideOn('remove', { policy: 'spam' })).body.error, {
    reason: 'version_mismatch',
    decided_by: { id: ann.id },
  });
  await report('illegal');
  const removed = await ann.post(`notes/${note.id}/decisions`, {
    action: 'remove',
    expected_version: waiting.version,
    policy: 'spam',
  });
  t.equal(removed.status, 201, 'a report in between is no reason to refuse');
});

t.test("keeps a moderator's lease on an appeal and ends it on a withdrawal", async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const author = await signedIn(service);
  const note = await submitAs(service, author);
  await decide(ann, note.id, 'approve');
  const remove = { action: 'remove', expected_version: 2, policy: 'spam' };
  await ann.post(`notes/${note.id}/decisions`, remove);
  await lea.post('claims', { note_ids: [note.id] });
  t.equal((await post(service, `${note.id}/appeal`, { text: 'Why?' }, author.cookie)).status, 202);
  t.equal(await countClaims(lea), 1);
  const other = await submitAs(service, author);
  await ann.post('claims', { note_ids: [other.id] });
  t.equal((await post(service, `${other.id}/withdraw`, {}, author.cookie)).status, 200);
  t.equal(await countClaims(ann), 0);
});

t.test('settles reports when the author withdraws a note in its undo window', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const [author, reader] = [await signedIn(service), await signedIn(service)];
  const note = await submitAs(service, author);
  const { body } = await decide(ann, note.id, 'approve');
  for (const cookie of [reader.cookie, undefined])
    await post(service, `${note.id}/report`, { reason: 'spam' }, cookie);
  await ann.post(`decisions/${body.event_id}/undo`, { expected_version: 4 });
  const reject = { action: 'reject', expected_version: 5, policy: 'spam' };
  t.equal((await ann.post(`notes/${note.id}/decisions`, reject)).status, 201);
  const withdrawn = await post(service, `${note.id}/withdraw`, {}, author.cookie);
  t.equal(withdrawn.status, 200, withdrawn.text);
  const last = (await readFeed(service, reader.id)).at(-1);
  t.match(last, { type: 'report.resolved', data: { outcome: 'withdrawn' } });
  t.strictSame(last?.actor, { type: 'service' }, 'the actor is not the author');
  const { item } = (await ann.get(`notes/${note.id}`)).body;
  matchAll(t, item.reports, [{ state: 'withdrawn' }, { state: 'withdrawn' }]);
  await advanceTime(service, '11 minutes');
  t.equal(await notifyAuthors(service), 0);
  t.same((await readFeed(service, reader.id)).at(-1), last, 'no further notification');
});

for (const { how, after } of [
  { how: 'undone', after: 'undo' },
  { how: 'overturned by a lead', after: 'restore' },
  { how: 'appealed against', after: 'grant' },
])
  t.test(`notifies the author of an approval whose removal was ${how}`, async (t) => {
    const service = await startService(t);
    const [ann, lea] = [
      await addModerator(service, 'Ann'),
      await addModerator(service, 'Lea', 'lead'),
    ];
    const [author, parent] = [await signedIn(service), await signedIn(service)];
    const first = await submitAs(service, parent);
    await decide(ann, first.id, 'approve');
    await advanceTime(service, '11 minutes');
    t.equal(await notifyAuthors(service), 1);
    const note = await submitAs(service, author, { parent_id: first.id });
    t.equal((await decide(ann, note.id, 'approve')).status, 201);
    await advanceTime(service, '6 minutes');
    const decisions = `notes/${note.id}/decisions`;
    const remove = { action: 'remove', expected_version: 2, policy: 'spam' };
    const removed = await ann.post(decisions, remove);
    await advanceTime(service, '6 minutes');
    await t.rejects(
      notifyAuthors(service),
      /before the undo window has passed/,
      'the job for the approval waits',
    );
    // A worker deletes the jobs that it has completed.
    await service.database.pool.query(`DELETE FROM pgboss.job WHERE name = 'tell-author'`);
    if (after === 'grant')
      await post(service, `${note.id}/appeal`, { text: 'Why?' }, author.cookie);
    const back =
      after === 'undo'
        ? await ann.post(`decisions/${removed.body.event_id}/undo`, { expected_version: 3 })
        : await lea.post(decisions, { action: after, expected_version: after === 'grant' ? 4 : 3 });
    t.match(back.body, { state: 'approved' });
    await advanceTime(service, '11 minutes');
    t.equal(await notifyAuthors(service), 1);
    t.equal(await notifyAuthors(service), 0, 'a second run notifies nobody');
    const types = (await typesOf(service, author)).filter((type) => type.startsWith('note.'));
    t.same(types, ['note.submitted', 'note.approved']);
    t.match((await readFeed(service, parent.id)).at(-1), {
      type: 'note.replied',
      subject: first.id,
      data: { reply_id: note.id },
    });
  });

for (const { how, back } of [
  { how: 'a lead restores', back: 'restore' },
  { how: 'the appeal is granted', back: 'grant' },
])
  t.test(`tells reporters that a note stays when ${how} before their notification`, async (t) => {
    const service = await startService(t);
    const [ann, lea] = [
      await addModerator(service, 'Ann'),
      await addModerator(service, 'Lea', 'lead'),
    ];
    const [author, reader] = [await signedIn(service), await signedIn(service)];
    const note = await submitAs(service, author);
    await decide(ann, note.id, 'approve');
    await advanceTime(service, '11 minutes');
    await notifyAuthors(service);
    await post(service, `${note.id}/report`, { reason: 'spam' }, reader.cookie);
    const act = (moderator: typeof ann, action: string, expected_version: number) =>
      moderator.post(`notes/${note.id}/decisions`, {
        action,
        expected_version,
        ...(action === 'remove' ? { policy: 'spam' } : {}),
      });
    t.equal((await act(ann, 'remove', 3)).status, 201);
    const appealed = back === 'grant';
    if (appealed) await post(service, `${note.id}/appeal`, { text: 'Why?' }, author.cookie);
    const { body } = await act(lea, back, appealed ? 5 : 4);
    t.equal(body.state, 'approved');
    t.same((await ann.get('queue?view=reported')).body.items, [], 'the reports were settled');
    const before = await typesOf(service, author);
    await advanceTime(service, '11 minutes');
    t.equal(await notifyAuthors(service), appealed ? 2 : 1);
    t.equal(await notifyAuthors(service), 0, 'a second run notifies nobody');
    t.match((await readFeed(service, reader.id)).at(-1), {
      type: 'report.resolved',
      data: { outcome: 'kept', subject: { type: 'note', id: note.id } },
      actor: { type: 'moderator', id: undefined },
    });
    const told = appealed ? ['appeal.granted'] : [];
    t.same(await typesOf(service, author), [...before, ...told], 'no other notification');
    const { item } = (await ann.get(`notes/${note.id}`)).body;
    matchAll(t, item.reports, [{ state: 'kept' }]);
  });

for (const action of ['reject', 'remove'])
  t.test(`closes an appeal when a lead undoes the decision to ${action}`, async (t) => {
    const service = await startService(t);
    const [ann, lea] = [
      await addModerator(service, 'Ann'),
      await addModerator(service, 'Lea', 'lead'),
    ];
    const [member, reader] = [await signedIn(service), await signedIn(service)];
    const note = await submitAs(service, member);
    const version = async () => (await ann.get(`notes/${note.id}`)).body.item.version;
    const act = async (body: object) => {
      const decision = { ...body, expected_version: await version() };
      const decided = await ann.post(`notes/${note.id}/decisions`, decision);
      t.equal(decided.status, 201, decided.text);
      return decided.body.event_id;
    };
    if (action === 'remove') {
      await act({ action: 'approve' });
      await post(service, `${note.id}/report`, { reason: 'spam' }, reader.cookie);
      await act({ action: 'keep' });
    }
    const decision = await act({ action, policy: 'spam' });
    await advanceTime(service, '11 minutes');
    await notifyAuthors(service);
    const appealed = await post(service, `${note.id}/appeal`, { text: 'Why?' }, member.cookie);
    t.equal(appealed.status, 202);
    const undo = { expected_version: await version() };
    const undone = await lea.post(`decisions/${decision}/undo`, undo);
    t.equal(undone.body.status, 'undone', undone.text);
    const { items, counts } = (await lea.get('queue?view=appeals')).body;
    t.same([items, counts.appeals], [[], 0]);
    const { item } = (await ann.get(`notes/${note.id}`)).body;
    matchAll(t, item.reports, action === 'remove' ? [{ state: 'kept' }] : []);
  });

t.test('settles reports from an undone approval with the rejection that follows', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const note = await submit(service);
  const { body } = await decide(ann, note.id, 'approve');
  await post(service, `${note.id}/report`, { reason: 'spam' }, member.cookie);
  await ann.post(`decisions/${body.event_id}/undo`, { expected_version: 3 });
  const reject = { action: 'reject', expected_version: 4, policy: 'spam' };
  t.equal((await ann.post(`notes/${note.id}/decisions`, reject)).status, 201);
  matchAll(t, (await ann.get(`notes/${note.id}`)).body.item.reports, [{ state: 'removed' }]);
  t.equal((await readFeed(service, member.id)).length, 1, 'no notification within the undo window');
  await advanceTime(service, '11 minutes');
  await notifyAuthors(service);
  t.match((await readFeed(service, member.id)).at(-1), {
    type: 'report.resolved',
    data: { outcome: 'removed' },
  });
});

t.test("executes a member's request on a note once per idempotency key", async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const note = await submitAs(service, member);
  await decide(ann, note.id, 'reject');
  const key = randomUUID();
  const send = (word: string, body: object, given: string = key, cookie = member.cookie) =>
    service.call('POST', `/api/guestbook/${note.id}/${word}`, {
      body,
      cookie,
      headers: { 'idempotency-key': given },
    });
  const first = await send('appeal', { text: 'Please' });
  t.equal(first.status, 202);
  const again = await send('appeal', { text: 'Please' });
  t.equal(again.status, 202);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(again.text, first.text);
  t.equal((await send('appeal', { text: 'Now' })).body.status, 'idempotency_conflict');
  t.equal((await send('withdraw', {})).body.status, 'idempotency_conflict');
  t.equal(
    (await send('appeal', { text: 'Now' }, randomUUID())).body.error.reason,
    'already_appealed',
  );
  for (const [word, body] of [
    ['appeal', { text: 'Please' }],
    ['withdraw', {}],
    ['report', { reason: 'spam' }],
  ] as const)
    t.equal((await send(word, body, 'x')).body.status, 'invalid_idempotency_key', word);
  await service.call('POST', '/api/membership/logout', { body: {}, cookie: member.cookie });
  t.equal(
    (await send('appeal', { text: 'Please' })).status,
    401,
    "a replay needs the member's session",
  );
});

t.test('limits reports by address', async (t) => {
  const path = `${randomUUID()}/report`;
  for (const limit of ['LIMIT_NOTES_PER_TEN_MINUTES', 'LIMIT_NOTES_PER_DAY']) {
    const service = await startService(t, { [limit]: '3' });
    // Reports and notes have separate counters.
    await submit(service);
    const answers = [];
    for (let n = 0; n < 4; n++)
      answers.push((await post(service, path, { reason: 'spam' })).status);
    t.same(answers, [404, 404, 404, 429], limit);
  }
});

t.test('notifies the author of a note of a public reply once it is final', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const ann = await addModerator(service, 'Ann');
  const [asker, answerer] = [await signedIn(service), await signedIn(service)];
  const parent = await submitAs(service, asker);
  await decide(ann, parent.id, 'approve');
  const reply = await submitAs(service, answerer, { parent_id: parent.id });
  const own = await submitAs(service, asker, { parent_id: parent.id });
  for (const { id } of [reply, own]) await decide(ann, id, 'approve');
  await notifyAuthors(service);
  matchAll(
    t,
    (await readFeed(service, asker.id)).filter(({ type }) => type === 'note.replied'),
    [
      {
        subject: parent.id,
        data: { reply_id: reply.id },
        actor: { type: 'member', id: answerer.id },
      },
    ],
  );
  t.equal((await typesOf(service, answerer)).at(-1), 'note.approved');
});
