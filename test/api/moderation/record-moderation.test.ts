import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import {
  addModerator,
  countClaims,
  decide,
  type Moderator,
  submit,
} from '../../../harness/moderation.ts';
import { brief, handoff, result } from '../../../harness/packets.ts';
import {
  notifyRemovals,
  type Published,
  publishArtifact,
  publishCase,
  publishCaseNote,
  publishProfile,
  report,
} from '../../../harness/records.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

const KINDS = [
  { publish: publishProfile, removedType: 'profile.removed', publishedType: 'profile.published' },
  {
    publish: publishArtifact,
    removedType: 'artifact.removed',
    publishedType: 'artifact.published',
  },
  { publish: publishCase, removedType: 'case.removed', publishedType: 'case.opened' },
  {
    publish: async (agent: Agent) => publishCaseNote(agent, (await publishCase(agent)).id),
    removedType: 'case.removed',
    publishedType: 'case.noted',
  },
];

const pathOf = ({ type, id }: Published) => `subjects/${type}/${id}`;
const itemOf = async (mod: Moderator, record: Published) =>
  (await mod.get(pathOf(record))).body.item;
const remove = (expected_version: number) => ({
  action: 'remove',
  policy: 'spam',
  message: 'An advertisement',
  expected_version,
});

/** Whether anybody can read the record. */
async function isPublic(service: Service, { type, id, path }: Published): Promise<boolean> {
  const answer = await service.call('GET', path);
  if (type !== 'case_note') return answer.status === 200;
  return answer.body.notes.some((note: { id: string }) => note.id === id);
}

for (const { publish, removedType, publishedType } of KINDS)
  t.test(
    `removes, undoes, removes again, announces and restores ${publish.name || 'a case note'}`,
    async (t) => {
      const service = await startService(t);
      const [author, ann] = [await newAgent(service), await newAgent(service)];
      const mod = await addModerator(service, 'Mod');
      const other = await addModerator(service, 'Other');
      const lead = await addModerator(service, 'Lea', 'lead');
      const record = await publish(author);
      const path = `${pathOf(record)}/decisions`;
      const newest = async () => (await readFeed(service, author.id)).at(-1);
      const before = await newest();
      await report(ann, record, { details: 'Buy now' });

      const { version } = await itemOf(mod, record);
      const removed = await mod.post(path, remove(version));
      t.equal(removed.status, 201, removed.text);
      t.match(removed.body, { status: 'decided', state: 'removed', undo_until: /Z$/ });
      t.notOk(await isPublic(service, record));
      t.equal((await mod.get('queue?view=reported')).body.items.length, 0);
      t.same(await newest(), before, 'the author is not notified yet');
      t.match(await itemOf(mod, record), {
        state: 'removed',
        version: removed.body.version,
        reports: [{ state: 'removed', details: 'Buy now' }],
        decision: { event_id: removed.body.event_id, policy: 'spam', undo_allowed: true },
        allowed_actions: [],
      });
      t.match(await itemOf(other, record), { decision: { undo_allowed: false } });

      const undo = `decisions/${removed.body.event_id}/undo`;
      const expected = { expected_version: removed.body.version };
      t.equal((await other.post(undo, expected)).body.error.code, 'role_required');
      const stale = await mod.post(undo, { expected_version: version });
      t.match(stale.body.error, {
        reason: 'version_mismatch',
        current_version: removed.body.version,
        decided_by: { id: mod.id, name: 'Mod' },
      });
      const undone = await mod.post(undo, expected);
      t.match(undone.body, { status: 'undone', state: 'published', undo_until: null });
      t.ok(await isPublic(service, record));
      const second = await mod.post(undo, { expected_version: undone.body.version });
      t.equal(second.body.error.reason, 'wrong_state', 'a second undo is refused');
      const [waiting] = (await mod.get('queue?view=reported')).body.items;
      t.match(waiting, { id: record.id, reports: [{ state: 'open' }], decision: null });
      await advanceTime(service, '11 minutes');
      t.equal(await notifyRemovals(service), 0, 'an undone removal notifies nobody');
      t.same(await newest(), before);

      const again = await lead.post(path, remove(undone.body.version));
      t.equal(again.status, 201, again.text);
      await advanceTime(service, '11 minutes');
      t.equal(await notifyRemovals(service), 1);
      t.equal(await notifyRemovals(service), 0, 'a second run notifies nobody');
      t.match(await newest(), {
        type: removedType,
        data: { policy: 'spam' },
        actor: { type: 'moderator', id: undefined },
      });
      t.match((await readFeed(service, ann.id)).at(-1), {
        type: 'report.resolved',
        data: { outcome: 'removed', subject: { type: record.type, id: record.id } },
      });

      const now = await itemOf(lead, record);
      t.same(now.allowed_actions, [], 'the remover may not restore');
      const restore = { action: 'restore', expected_version: now.version };
      t.equal((await mod.post(path, restore)).body.error.code, 'role_required');
      const byRemover = await lead.post(path, restore);
      t.equal(byRemover.body.error.reason, 'second_person_required');
      t.notOk(await isPublic(service, record));
      const another = await addModerator(service, 'Lou', 'lead');
      t.same((await itemOf(another, record)).allowed_actions, ['restore']);
      const restored = await another.post(path, restore);
      t.match(restored.body, { state: 'published', undo_until: null });
      t.ok(await isPublic(service, record));
      const overruled = await lead.post(`decisions/${restored.body.event_id}/undo`, {
        expected_version: restored.body.version,
      });
      t.equal(overruled.body.error.reason, 'wrong_state', 'a restoration cannot be undone');
      t.ok(await isPublic(service, record));
      const entry = await newest();
      t.match(entry, { type: publishedType, data: { restored: true } });
      t.same(entry?.actor, { type: 'moderator' }, 'the moderator is not identified');
      t.equal(
        (await mod.get('queue?view=reported')).body.items.length,
        0,
        'the report stays resolved',
      );

      const { history } = (await mod.get(pathOf(record))).body;
      const historyTexts = history.map(({ type, text }: { type: string; text: string }) => [
        type,
        text,
      ]);
      t.match(historyTexts.slice(1).flat(), [
        'RecordReported',
        'Buy now',
        /Removed$/,
        'An advertisement',
      ]);
      const audit = (await lead.get('audit')).body.entries.filter(
        ({ subject }: { subject: object }) => JSON.stringify(subject).includes(record.id),
      );
      t.ok(audit.length >= 4);
      t.match(audit[0], { subject: { type: record.type, id: record.id }, actor: { name: 'Mod' } });
    },
  );

t.test('accepts one of two concurrent decisions and names the winner', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await newAgent(service), await newAgent(service)];
  const mods = [await addModerator(service, 'Ann'), await addModerator(service, 'Ben')] as const;
  for (const publish of [publishProfile, publishCase]) {
    const record = await publish(author);
    await report(ann, record);
    const { version } = await itemOf(mods[0], record);
    const keep = { action: 'keep', expected_version: version };
    const answers = await Promise.all([
      mods[0].post(`${pathOf(record)}/decisions`, remove(version)),
      mods[1].post(`${pathOf(record)}/decisions`, keep),
    ]);
    const lost = answers.findIndex(({ status }) => status === 409);
    t.same(answers.map(({ status }) => status).sort(), [201, 409]);
    t.match(answers[lost]?.body.error, {
      code: 'state_conflict',
      decided_by: { id: mods[1 - lost]?.id },
      decided_at: /Z$/,
    });
  }
});

t.test('decides despite later reports, which stay open, but not after a decision', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = [
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
  ];
  const mod = await addModerator(service, 'Mod');
  const record = await publishArtifact(author);
  await report(ann, record);
  const { version } = await itemOf(mod, record);
  await report(bob, record, { reason: 'illegal' });
  const decideOn = (body: object) => mod.post(`${pathOf(record)}/decisions`, body);
  const kept = await decideOn({ action: 'keep', expected_version: version });
  t.match(kept.body, { status: 'decided', version: version + 2 }, kept.text);
  const left = await itemOf(mod, record);
  matchAll(t, left.reports, [
    { reason: 'illegal', state: 'open' },
    { reason: 'spam', state: 'kept' },
  ]);
  t.equal(left.reported_at, left.reports[0].reported_at, 'the later report waits');
  const late = await decideOn({ action: 'keep', expected_version: version });
  t.match(late.body.error, { reason: 'version_mismatch', decided_by: { id: mod.id } });
  const carl = await newAgent(service);
  await report(carl, record, { reason: 'privacy' });
  const removed = await decideOn(remove(left.version));
  t.match(removed.body, { state: 'removed' }, removed.text);
  const { reports } = await itemOf(mod, record);
  matchAll(t, reports, [{ state: 'removed' }, { state: 'removed' }, { state: 'kept' }]);
});

t.test('refuses decisions by other roles and on invalid subjects', async (t) => {
  const service = await startService(t);
  const author = await newAgent(service);
  const mod = await addModerator(service, 'Mod');
  const record = await publishArtifact(author);
  const path = `${pathOf(record)}/decisions`;
  for (const role of ['triage', 'auditor'] as const) {
    const reader = await addModerator(service, role, role);
    t.equal((await reader.get(pathOf(record))).status, 200);
    t.equal((await reader.post(path, remove(1))).body.error.code, 'role_required');
  }
  const member = { headers: { authorization: author.authorization } };
  const refused = await service.call('GET', `/api/moderation/${pathOf(record)}`, member);
  t.equal(refused.body.error.code, 'moderator_required');
  t.equal((await mod.post(path, { ...remove(1), policy: 'taste' })).status, 400);
  t.equal((await mod.post(path, { ...remove(1), policy: undefined })).status, 400);
  t.equal((await mod.post(path, { action: 'approve', expected_version: 1 })).status, 400);
  t.equal((await mod.get(`subjects/member/${author.id}`)).body.error.code, 'role_required');
  t.equal((await mod.get(`subjects/case/${randomUUID()}`)).status, 404);
  const absent = `subjects/artifact/${randomUUID()}/decisions`;
  t.equal((await mod.post(absent, remove(1))).status, 404);
  t.equal((await mod.post(path, remove(2))).body.error.reason, 'version_mismatch');
  await author.call('POST', `${record.path}/withdraw`, {});
  t.equal((await mod.post(path, remove(2))).body.error.reason, 'wrong_state');
});

t.test("keeps a case private after its author's deletion, restored or not", async (t) => {
  const service = await startService(t);
  const [author, other] = [await newAgent(service), await newAgent(service)];
  const [mod, lead] = [
    await addModerator(service, 'Mod'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const theCase = await publishCase(author);
  const note = await publishCaseNote(other, theCase.id);
  const ofNote = await mod.post(`${pathOf(note)}/decisions`, remove(1));
  const ofCase = await mod.post(`${pathOf(theCase)}/decisions`, remove(1));
  t.equal(ofCase.status, 201, ofCase.text);
  await author.call('POST', '/api/v1/me/delete', { confirm_handle: author.handle });
  const { version: expected_version, ...shownCase } = await itemOf(lead, theCase);
  t.match(shownCase, { state: 'withdrawn', allowed_actions: [] });
  for (const answer of [
    await lead.post(`${pathOf(theCase)}/decisions`, { action: 'restore', expected_version }),
    await lead.post(`decisions/${ofCase.body.event_id}/undo`, { expected_version }),
  ])
    t.equal(answer.body.error?.reason, 'wrong_state', answer.text);
  const undo = { expected_version: ofNote.body.version };
  const undone = await lead.post(`decisions/${ofNote.body.event_id}/undo`, undo);
  t.match(undone.body, { status: 'undone', state: 'withdrawn' }, undone.text);
  t.equal((await itemOf(lead, note)).state, 'withdrawn');
});

t.test('refuses to restore a removed record that its author withdrew', async (t) => {
  const service = await startService(t);
  const author = await newAgent(service);
  const mod = await addModerator(service, 'Mod');
  const lead = await addModerator(service, 'Lea', 'lead');
  const record = await publishArtifact(author);
  const path = `${pathOf(record)}/decisions`;
  const removed = await mod.post(path, remove(1));
  await author.call('POST', `${record.path}/withdraw`, {});
  const { version } = await itemOf(lead, record);
  const restore = { action: 'restore', expected_version: version };
  t.equal((await lead.post(path, restore)).body.error.reason, 'wrong_state');
  const undo = `decisions/${removed.body.event_id}/undo`;
  const undone = await lead.post(undo, { expected_version: version });
  t.equal(undone.body.error.reason, 'wrong_state');
  t.notOk(await isPublic(service, record));
});

t.test('allows an undo to its decider for ten minutes and to a lead at any time', async (t) => {
  const service = await startService(t);
  const author = await newAgent(service);
  const mod = await addModerator(service, 'Mod');
  const lead = await addModerator(service, 'Lea', 'lead');
  const record = await publishCase(author);
  for (let n = 0; n < 2; n++) await report(await newAgent(service), record);
  const { version } = await itemOf(mod, record);
  const removed = await mod.post(`${pathOf(record)}/decisions`, remove(version));
  await advanceTime(service, '11 minutes');
  const undo = `decisions/${removed.body.event_id}/undo`;
  const expected = { expected_version: removed.body.version };
  t.equal((await mod.post(undo, expected)).body.error.reason, 'undo_expired');
  t.equal((await lead.post(undo, expected)).status, 201);
  t.ok(await isPublic(service, record));
  const { reported_at, reports } = await itemOf(mod, record);
  t.equal(reported_at, reports.at(-1).reported_at, 'the reports return to their old place');
});

t.test('releases the claims on records that their author withdraws', async (t) => {
  const service = await startService(t);
  const mod = await addModerator(service, 'Mod');
  const reader = await newAgent(service);
  const claimAll = async (agent: Agent) => {
    const records = [
      await publishProfile(agent),
      await publishArtifact(agent),
      await publishCase(agent),
    ];
    for (const record of records) await report(reader, record);
    const subjects = records.map(({ type, id }) => ({ type, id }));
    t.equal((await mod.post('claims', { subjects })).status, 200);
    t.equal(await countClaims(mod), 3);
    return records;
  };
  const author = await newAgent(service);
  const [, artifact, opened] = await claimAll(author);
  await author.call('POST', '/api/v1/me/profile/withdraw', {});
  await author.call('POST', `/api/v1/artifacts/${artifact?.id}/withdraw`, {});
  await author.call('POST', `/api/v1/cases/${opened?.id}/withdraw`, { expected_version: 1 });
  t.equal(await countClaims(mod), 0);
  const leaver = await newAgent(service);
  await claimAll(leaver);
  await leaver.call('POST', '/api/v1/me/delete', { confirm_handle: leaver.handle });
  t.equal(await countClaims(mod), 0);
});

t.test('names the decider, not the notification, in the refusal of a late undo', async (t) => {
  const service = await startService(t);
  const mod = await addModerator(service, 'Mod');
  const author = await newAgent(service);
  const record = await publishProfile(author);
  const { body } = await mod.post(`${pathOf(record)}/decisions`, remove(1));
  await publishProfile(author, 'Anew');
  const late = await mod.post(`decisions/${body.event_id}/undo`, {
    expected_version: body.version,
  });
  t.match(late, { status: 409, body: { error: { decided_by: { id: mod.id, name: 'Mod' } } } });
});

t.test('executes a decision on a record once per idempotency key', async (t) => {
  const service = await startService(t);
  const author = await newAgent(service);
  const mod = await addModerator(service, 'Mod');
  const record = await publishProfile(author);
  const headers = { authorization: `Bearer ${mod.token}`, 'idempotency-key': randomUUID() };
  const path = `/api/moderation/${pathOf(record)}/decisions`;
  const first = await service.call('POST', path, { headers, body: remove(1) });
  const again = await service.call('POST', path, { headers, body: remove(1) });
  t.equal(again.status, 201);
  t.same(again.body, first.body);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
});

t.test('lets a moderator claim, renew, decide on and release records', async (t) => {
  const service = await startService(t);
  const [author, reporter] = [await newAgent(service), await newAgent(service)];
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const [packet, open] = [await publishArtifact(author), await publishCase(author)];
  await report(reporter, packet);
  await report(reporter, open);
  const subjectOf = ({ type, id }: Published) => ({ type, id });

  const next = (await ann.post('claims', { count: 1, view: 'reported' })).body.claims;
  matchAll(t, next, [
    { note_id: null, subject: subjectOf(packet), item: { id: packet.id, claim: { mine: true } } },
  ]);
  matchAll(t, (await ann.get('me')).body.leases, [{ subject: subjectOf(packet) }]);
  const mine = await ann.get('queue?view=mine');
  t.match(mine.body, { items: [{ id: packet.id }], counts: { mine: 1, reported: 2 } });
  const theirs = await itemOf(bob, packet);
  t.match(theirs, { claim: { mine: false, moderator: { name: 'Ann' } }, allowed_actions: [] });

  const request = { subjects: [subjectOf(packet)] };
  t.match((await bob.post('claims', request)).body.error, {
    reason: 'claimed_by_other',
    subject: subjectOf(packet),
    claimed_by: { name: 'Ann' },
  });
  const refused = await bob.post(`${pathOf(packet)}/decisions`, remove(theirs.version));
  t.equal(refused.body.error.reason, 'claimed_by_other');
  matchAll(t, (await bob.post('claims', { count: 5, view: 'reported' })).body.claims, [
    { subject: subjectOf(open) },
  ]);
  const [{ lease_id }] = next;
  t.same((await ann.post('claims/renew', { lease_ids: [lease_id] })).body.renewed, [lease_id]);

  const removed = await ann.post(`${pathOf(packet)}/decisions`, remove(theirs.version));
  t.equal(removed.status, 201, removed.text);
  t.same((await ann.get('me')).body.leases, []);
  const { rows } = await service.database.pool.query('SELECT claimed_at FROM record_decisions');
  t.type(rows[0].claimed_at, Date);
  await bob.post('claims/release', {
    lease_ids: (await bob.get('me')).body.leases.map(
      ({ lease_id }: { lease_id: string }) => lease_id,
    ),
  });
  t.equal((await itemOf(ann, open)).claim, null);
  const absent = { subjects: [{ type: 'case', id: randomUUID() }] };
  t.equal((await ann.post('claims', absent)).status, 404);
});

t.test('lists decisions on notes and records, newest first', async (t) => {
  const service = await startService(t);
  const [author, reporter] = [await newAgent(service), await newAgent(service)];
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const note = await submit(service);
  await decide(ann, note.id, 'approve');
  const [packet, open] = [await publishArtifact(author), await publishCase(author)];
  await report(reporter, packet);
  const { version } = await itemOf(ann, packet);
  await ann.post(`${pathOf(packet)}/decisions`, { action: 'keep', expected_version: version });
  const later = await itemOf(ann, open);
  const removed = await ann.post(`${pathOf(open)}/decisions`, remove(later.version));

  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor ? `&cursor=${cursor}` : '';
    const { body } = await lea.get(`queue?view=decided&limit=1${more}`);
    ids.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor;
  }
  t.same(ids, [open.id, packet.id, note.id]);
  const by = await lea.get(`queue?view=decided&author=${author.id}`);
  matchAll(t, by.body.items, [{ id: open.id, allowed_actions: ['restore'] }, { id: packet.id }]);
  await ann.post(`decisions/${removed.body.event_id}/undo`, {
    expected_version: removed.body.version,
  });
  matchAll(t, (await lea.get('queue?view=decided')).body.items, [
    { id: packet.id },
    { id: note.id },
  ]);
});

t.test('lists reported records in the order of their reports', async (t) => {
  const service = await startService(t);
  const [author, reporter] = [await newAgent(service), await newAgent(service)];
  const ann = await addModerator(service, 'Ann');
  const [packet, open] = [await publishArtifact(author), await publishCase(author)];
  await report(reporter, open);
  await report(reporter, packet);
  matchAll(t, (await ann.get('queue?view=reported')).body.items, [
    { id: open.id },
    { id: packet.id },
  ]);
});

t.test('shows a packet as its author wrote it', async (t) => {
  const service = await startService(t);
  const author = await newAgent(service);
  const ann = await addModerator(service, 'Ann');
  const readText = async (packet: object) => {
    const published = await author.call('POST', '/api/v1/artifacts', packet);
    t.equal(published.status, 201, published.text);
    const { id } = published.body.artifact;
    return (await ann.get(`subjects/artifact/${id}`)).body.item.text as string;
  };
  const source = 'Claim: self_reported\nReuse: CC0-1.0\nhttps://example.org/source';
  t.equal(
    await readText(brief()),
    `What it is about\n\nGrüße, שלום, 你好 👋\n\tdone\n\n${source}`,
    'the text keeps its lines',
  );
  t.equal(
    await readText(result()),
    'What it is about\n\nIt worked.\n\nAlone\n\n' +
      `With its digest and place\nhttps://example.org/evidence\n\n${source}`,
  );
  const packet = handoff();
  const text = await readText(packet);
  t.ok(text.startsWith(`${packet.summary}\n\n{\n    "`), 'a handoff is shown as its structure');
  t.ok(
    text.includes(
      `"authorization_boundary": ${JSON.stringify(packet.content.scope.authorization_boundary)}`,
    ),
  );
  t.ok(text.includes(`Reuse: ${packet.reuse_terms}`));
  t.ok(
    (
      await readText({ ...brief(), content: { body: 'x'.repeat(20_000), format: 'text' } })
    ).endsWith(source),
  );
});
