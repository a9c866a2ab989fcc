import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import {
  notifyRemovals,
  publishArtifact,
  publishCase,
  publishCaseNote,
  publishProfile,
  report,
} from '../../../harness/records.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime, readFeed } from '../../support/passing-time.ts';
import { startService } from '../../support/service.ts';

t.test('accepts one report per member on every public record and queues it', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = [
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
  ];
  const mod = await addModerator(service, 'Mod');
  const note = await submit(service);
  await decide(mod, note.id, 'approve');
  const theCase = await publishCase(author);
  const records = [
    await publishProfile(author),
    await publishArtifact(author),
    theCase,
    await publishCaseNote(author, theCase.id),
  ];
  for (const subject of [{ type: 'note', id: note.id }, ...records]) {
    const first = await report(ann, subject, { details: 'Look' });
    t.equal(first.status, 201, first.text);
    t.match(first.body, {
      status: 'received',
      report: { state: 'open' },
      receipt: { operation: 'report.create', member_id: ann.id, event_ids: [String] },
    });
    const again = await report(ann, subject, { reason: 'abuse' });
    t.equal(again.status, 200);
    t.equal(again.body.report.id, first.body.report.id, 'the first report is returned');
    t.same(again.body.receipt.event_ids, [], 'no new event');
    t.equal((await report(bob, subject)).status, 201);
    t.not((await report(bob, subject)).body.report.id, first.body.report.id);
  }
  const feed = await readFeed(service, ann.id);
  const received = feed.filter(({ type }) => type === 'report.received');
  matchAll(
    t,
    received.map(({ data }) => data),
    [
      { subject: { type: 'note', id: note.id } },
      ...records.map(({ type, id }) => ({ subject: { type, id } })),
    ],
  );

  const { body } = await mod.get('queue?view=reported');
  t.equal(body.counts.reported, 5);
  t.same(
    body.items.map((item: { id: string }) => item.id),
    [note.id, ...records.map(({ id }) => id)],
    'the oldest report comes first',
  );
  t.match(body.items[0], { text: 'Hello', look_alikes: [], reports: [{}, {}] });
  t.notOk(body.items[0].subject, "a note's item has no subject");
  t.match(body.items[1], {
    subject: { type: 'profile', id: author.id },
    state: 'published',
    title: 'Ada',
    author: { kind: 'member', name: author.handle, member_id: author.id },
    reports: [
      { member_id: bob.id, reason: 'spam', state: 'open', details: null },
      { member_id: ann.id, reason: 'spam', state: 'open', details: 'Look' },
    ],
    allowed_actions: ['keep', 'remove'],
  });

  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await mod.get(`queue?view=reported&limit=2${cursor}`);
    ids.push(...page.body.items.map((item: { id: string }) => item.id));
    if (page.body.next_cursor === null) break;
    cursor = `&cursor=${page.body.next_cursor}`;
  }
  t.same(ids, [note.id, ...records.map(({ id }) => id)], 'pages list the same items');
  const by = await mod.get(`queue?view=reported&author=${author.handle}`);
  t.equal(by.body.items.length, 4);
  t.equal((await mod.get('queue?view=reported&finding=links')).body.items.length, 0);
});

t.test('answers 404 to a report on a record that is not public', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await newAgent(service), await newAgent(service)];
  const mod = await addModerator(service, 'Mod');
  const artifact = await publishArtifact(author);
  await author.call('POST', `${artifact.path}/withdraw`, {});
  const waiting = await submit(service);
  const removed = await publishCase(author);
  const noteOnRemoved = await publishCaseNote(author, removed.id);
  const path = `subjects/case/${removed.id}/decisions`;
  await mod.post(path, { action: 'remove', policy: 'spam', expected_version: 1 });
  for (const subject of [
    artifact,
    removed,
    noteOnRemoved,
    { type: 'note', id: waiting.id },
    { type: 'profile', id: author.id },
    { type: 'artifact', id: removed.id },
    ...['note', 'profile', 'artifact', 'case', 'case_note'].map((type) => ({
      type,
      id: randomUUID(),
    })),
  ]) {
    const answer = await report(ann, subject);
    t.equal(answer.status, 404, subject.type);
    t.equal(answer.body.error.code, 'not_found');
  }
  t.equal((await mod.get('queue?view=reported')).body.counts.reported, 0);
});

t.test("validates a report's scope, fields and key, and replays its receipt", async (t) => {
  const service = await startService(t);
  const author = await newAgent(service);
  const ann = await newAgent(service, ['report:create']);
  const other = await newAgent(service, ['case:note']);
  const subject = await publishProfile(author);
  t.match((await report(other, subject)).body, { error: { code: 'scope_required' } });
  for (const more of [
    { reason: 'taste' },
    { details: 'x'.repeat(1001) },
    { subject: { type: 'member', id: author.id } },
    { more: 1 },
  ])
    t.equal((await report(ann, subject, more)).status, 400, JSON.stringify(more));
  const headers = { 'idempotency-key': randomUUID() };
  const first = await report(ann, subject, {}, headers);
  const replayed = await report(ann, subject, {}, headers);
  t.equal(replayed.text, first.text);
  t.equal(replayed.headers.get('idempotency-replayed'), 'true');
  const changed = await report(ann, subject, { reason: 'abuse' }, headers);
  t.equal(changed.body.error.code, 'idempotency_conflict');
});

t.test('records one of several concurrent reports by the same member', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await newAgent(service), await newAgent(service)];
  const subject = await publishArtifact(author);
  const answers = await Promise.all(Array.from({ length: 5 }, () => report(ann, subject)));
  t.same(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 201]);
  t.equal(new Set(answers.map(({ body }) => body.report.id)).size, 1);
  const { rows } = await service.database.pool.query('SELECT FROM record_reports');
  t.equal(rows.length, 1);
});

t.test('ignores a reason that was kept and queues a new reason', async (t) => {
  const service = await startService(t);
  const [author, ann, bob, eve] = [
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
  ];
  const [late, later] = [await newAgent(service), await newAgent(service)];
  const mod = await addModerator(service, 'Mod');
  const { id } = await publishArtifact(author);
  const subject = { type: 'artifact', id };
  await report(ann, subject);
  const kept = await mod.post(`subjects/artifact/${id}/decisions`, {
    action: 'keep',
    expected_version: 2,
  });
  t.equal(kept.status, 201, kept.text);
  const [decided] = (await mod.get('queue?view=decided')).body.items;
  t.match(decided, { id, decision: { decision: 'kept', undo_allowed: false, undo_until: null } });
  t.match(kept.body, { status: 'decided', state: 'published', version: 3, undo_until: null });
  t.match((await readFeed(service, ann.id)).at(-1), {
    type: 'report.resolved',
    data: { outcome: 'kept', subject },
    actor: { type: 'moderator', id: undefined },
  });
  t.equal((await report(bob, subject)).status, 201);
  t.match((await readFeed(service, bob.id)).at(-1), { data: { already_reviewed: true } });
  t.equal((await mod.get('queue?view=reported')).body.items.length, 0);
  const keepAgain = { action: 'keep', expected_version: 4 };
  const refused = await mod.post(`subjects/artifact/${id}/decisions`, keepAgain);
  t.equal(refused.body.error.reason, 'wrong_state');
  t.equal((await report(eve, subject, { reason: 'privacy' })).status, 201);
  const [queued] = (await mod.get('queue?view=reported')).body.items;
  t.match(queued, { id, reported_at: /Z$/ });
  for (const [agent, reason] of [
    [late, 'spam'],
    [later, 'privacy'],
  ] as const)
    t.equal((await report(agent, subject, { reason })).status, 201);
  const [stillQueued] = (await mod.get('queue?view=reported')).body.items;
  t.equal(stillQueued.reports.length, 5);
  t.equal(stillQueued.reported_at, queued.reported_at, 'it waits since the first new reason');
});

t.test('tells reporters that a record was withdrawn, also with the account', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await newAgent(service), await newAgent(service)];
  const mod = await addModerator(service, 'Mod');
  const artifact = await publishArtifact(author);
  const theCase = await publishCase(author);
  await report(ann, artifact);
  await report(ann, theCase);
  await author.call('POST', `${artifact.path}/withdraw`, {});
  t.equal(
    (await mod.get('queue?view=reported')).body.items.length,
    1,
    'the withdrawn record leaves the queue at once',
  );
  t.equal(await notifyRemovals(service), 1);
  t.match((await readFeed(service, ann.id)).at(-1), {
    type: 'report.resolved',
    data: { outcome: 'withdrawn', subject: { type: 'artifact', id: artifact.id } },
    actor: { type: 'service' },
  });
  const gone = await author.call('POST', '/api/v1/me/delete', { confirm_handle: author.handle });
  t.equal(gone.status, 200, gone.text);
  t.equal((await mod.get('queue?view=reported')).body.counts.reported, 0);
  t.equal(await notifyRemovals(service), 1);
  t.match((await readFeed(service, ann.id)).at(-1), { data: { outcome: 'withdrawn' } });
  t.equal(await notifyRemovals(service), 0, 'a second run notifies nobody');
});

t.test('tells reporters that a record stays if restored before they are notified', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await newAgent(service), await newAgent(service)];
  const mod = await addModerator(service, 'Mod');
  const lead = await addModerator(service, 'Lea', 'lead');
  const artifact = await publishArtifact(author);
  const { id } = artifact;
  await report(ann, artifact);
  const act = (moderator: typeof mod, body: object) =>
    moderator.post(`subjects/artifact/${id}/decisions`, body);
  const removal = { action: 'remove', policy: 'spam' };
  const removed = await act(mod, { ...removal, expected_version: 2 });
  const { version } = removed.body;
  const restored = await act(lead, { action: 'restore', expected_version: version });
  t.equal(restored.status, 201, restored.text);
  const again = await act(mod, { ...removal, expected_version: restored.body.version });
  t.equal(again.status, 201, 'the second removal succeeds');
  await t.rejects(notifyRemovals(service), /before the undo window has passed/);
  await advanceTime(service, '11 minutes');
  t.equal(await notifyRemovals(service), 2);
  t.equal(await notifyRemovals(service), 0, 'a second run notifies nobody');
  t.match((await readFeed(service, ann.id)).at(-1), {
    type: 'report.resolved',
    data: { outcome: 'kept', subject: { type: 'artifact', id } },
    actor: { type: 'moderator', id: undefined },
  });
  t.match((await readFeed(service, author.id)).at(-1), { type: 'artifact.removed' });
  t.equal((await mod.get(`subjects/artifact/${id}`)).body.item.reports[0].state, 'kept');
});

t.test('ends a removal when the profile is republished, and notifies both sides', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await newAgent(service), await newAgent(service)];
  const mod = await addModerator(service, 'Mod');
  const profile = await publishProfile(author);
  await report(ann, profile);
  const path = `subjects/profile/${author.id}`;
  const remove = { action: 'remove', policy: 'spam', expected_version: 2 };
  const removed = await mod.post(`${path}/decisions`, remove);
  t.equal(removed.status, 201, removed.text);
  await publishProfile(author);
  const undo = { expected_version: 5 };
  const undone = await mod.post(`decisions/${removed.body.event_id}/undo`, undo);
  t.equal(undone.body.error.reason, 'wrong_state');
  matchAll(t, (await readFeed(service, author.id)).slice(-3), [
    { type: 'profile.published', data: { version: 1 } },
    {
      type: 'profile.removed',
      data: { policy: 'spam' },
      actor: { type: 'moderator', id: undefined },
    },
    { type: 'profile.published', data: { version: 4 }, actor: { id: author.id } },
  ]);
  await advanceTime(service, '11 minutes');
  t.equal(await notifyRemovals(service), 1);
  t.equal(await notifyRemovals(service), 0, 'a second run notifies nobody');
  t.match((await readFeed(service, ann.id)).at(-1), {
    type: 'report.resolved',
    data: { outcome: 'removed', subject: { type: 'profile', id: author.id } },
  });
  t.equal((await mod.get(path)).body.item.state, 'published');
});

t.test("exports a member's own reports without the decisions on them", async (t) => {
  const service = await startService(t);
  const [author, ann] = [await newAgent(service), await newAgent(service)];
  const mod = await addModerator(service, 'Mod');
  const note = await submit(service);
  await decide(mod, note.id, 'approve');
  const artifact = await publishArtifact(author);
  const first = await report(ann, { type: 'note', id: note.id }, { details: 'One' });
  const second = await report(ann, artifact, { reason: 'other', details: 'Two' });
  await mod.post(`subjects/artifact/${artifact.id}/decisions`, {
    action: 'remove',
    policy: 'spam',
    expected_version: 2,
  });
  const { body } = await ann.call('GET', '/api/v1/me/export');
  t.strictSame(
    body.reports.map(({ created_at: _, ...entry }: { created_at: string }) => entry),
    [
      {
        id: first.body.report.id,
        subject: { type: 'note', id: note.id },
        reason: 'spam',
        details: 'One',
      },
      {
        id: second.body.report.id,
        subject: { type: 'artifact', id: artifact.id },
        reason: 'other',
        details: 'Two',
      },
    ],
  );
  t.same((await author.call('GET', '/api/v1/me/export')).body.reports, []);
});

t.test('shows a note under subjects as well', async (t) => {
  const service = await startService(t);
  const mod = await addModerator(service, 'Mod');
  const note = await submit(service);
  await decide(mod, note.id, 'approve');
  const path = `subjects/note/${note.id}`;
  const own = (await mod.get(`notes/${note.id}`)).body;
  const { item, history } = (await mod.get(path)).body;
  t.match(item, { id: note.id, text: 'Hello', allowed_actions: own.item.allowed_actions });
  t.same(history, own.history);
  const body = { action: 'remove', policy: 'spam', expected_version: 2 };
  t.match((await mod.post(`${path}/decisions`, body)).body, { state: 'removed', version: 3 });
  t.equal((await mod.get(`subjects/note/${randomUUID()}`)).status, 404);
});
