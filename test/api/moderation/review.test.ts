import { randomUUID } from 'node:crypto';
import t from 'tap';
import {
  addModerator,
  decide,
  type Moderator,
  submit,
  submitAs,
} from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import { screenNote } from '../../../workers/screening/screen-note.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime, notifyAuthors, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

const act = (one: Moderator, id: string, action: string, version: number, more: object = {}) =>
  one.post(`notes/${id}/decisions`, { action, expected_version: version, ...more });

const listPublic = async (service: Service) =>
  (await service.call('GET', '/api/guestbook')).body.entries.map(({ id }: { id: string }) => id);

const reasonOf = (answer: { body: { error: { reason: string } } }) => answer.body.error.reason;

t.test('removes a note, lets another lead restore it, and records who decided', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const [lea, max] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Max', 'lead'),
  ];
  const note = await submit(service);
  await decide(ann, note.id, 'approve');
  t.equal((await act(bob, note.id, 'remove', 2)).status, 400, 'a policy is required');
  t.equal((await act(bob, note.id, 'remove', 2, { policy: 'taste' })).status, 400);
  const removed = await act(lea, note.id, 'remove', 2, { policy: 'abuse', message: 'No.' });
  t.match(removed.body, { state: 'removed', version: 3, undo_until: String });
  t.same(await listPublic(service), []);
  const forbidden = await act(bob, note.id, 'restore', 3);
  t.equal(forbidden.status, 403);
  t.equal(forbidden.body.status, 'role_required');
  t.equal(reasonOf(await act(lea, note.id, 'restore', 3)), 'second_person_required');
  t.same((await lea.get(`notes/${note.id}`)).body.item.allowed_actions, []);
  t.same((await max.get(`notes/${note.id}`)).body.item.allowed_actions, ['restore']);
  const restored = await act(max, note.id, 'restore', 3);
  t.match(restored.body, { state: 'approved', version: 4, undo_until: null });
  t.same(await listPublic(service), [note.id]);

  const { body } = await ann.get(`notes/${note.id}`);
  matchAll(t, body.history, [
    { type: 'NoteSubmitted', actor: { type: 'guest' }, text: note.message },
    { type: 'NoteApproved', actor: { id: ann.id, name: 'Ann' }, version: 2 },
    { type: 'NoteRemoved', actor: { name: 'Lea' }, data: { policy: 'abuse' }, text: 'No.' },
    { type: 'NoteRestored', actor: { name: 'Max' } },
  ]);
  t.match(body.item.decision, { decision: 'restored', undo_allowed: false });
  t.equal((await ann.get(`notes/${randomUUID()}`)).status, 404);
  t.equal((await ann.get('notes/no')).status, 400);
});

t.test('lists screening and notification in the history, with their versions', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { handle, cookie } = await signedIn(service);
  const note = await submit(
    service,
    { attribution: 'member', member_handle: handle, name: '' },
    cookie,
  );
  await screenNote(service.core, { note_id: note.id });
  await decide(ann, note.id, 'reject');
  await advanceTime(service, '11 minutes');
  t.equal(await notifyAuthors(service), 1);
  const { history } = (await ann.get(`notes/${note.id}`)).body;
  matchAll(t, history, [
    { type: 'NoteSubmitted', version: 1 },
    { type: 'NoteScreened', version: 1, actor: { type: 'service' }, data: { band: 'clear' } },
    { type: 'NoteRejected', version: 2 },
    { type: 'DecisionTold', version: 2, data: { outcome: 'rejected', of: history[2].event_id } },
  ]);
  t.same((await ann.get(`subjects/note/${note.id}`)).body.history, history);
});

t.test('restores a note to its place when its moderator undoes the removal', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const [first, second] = [await submit(service), await submit(service)];
  for (const { id } of [first, second]) await decide(ann, id, 'approve');
  const removed = await act(bob, first.id, 'remove', 2, { policy: 'spam' });
  const undo = `decisions/${removed.body.event_id}/undo`;
  t.equal((await ann.post(undo, { expected_version: 3 })).status, 403);
  const undone = await bob.post(undo, { expected_version: 3 });
  t.match(undone.body, { status: 'undone', state: 'approved', version: 5 });
  t.same(await listPublic(service), [second.id, first.id], 'the note returns to its old place');
  t.equal(reasonOf(await bob.post(undo, { expected_version: 5 })), 'wrong_state');
  t.match((await ann.get(`notes/${first.id}`)).body.item.decision, {
    decision: 'approved',
    undo_allowed: true,
  });
  t.equal((await ann.get('stats')).body.decisions, 3, 'the undo does not count as a decision');
});

t.test('undoes a decision although another moderator holds the note', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const note = await submit(service);
  const { body } = await decide(ann, note.id, 'approve');
  await bob.post('claims', { note_ids: [note.id] });
  const undone = await ann.post(`decisions/${body.event_id}/undo`, { expected_version: 2 });
  t.equal(undone.status, 201, undone.text);
  t.equal((await bob.get('me')).body.leases.length, 0);
});

t.test('needs a second lead to undo a decision after its window', async (t) => {
  const service = await startService(t);
  const [lea, max] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Max', 'lead'),
  ];
  const author = await signedIn(service);
  const [note, other] = [await submitAs(service, author), await submitAs(service, author)];
  const items = [note, other].map(({ id }) => ({ note_id: id, expected_version: 1 }));
  const batch = await lea.post('decisions/batch', { action: 'reject', policy: 'spam', items });
  const [{ event_id }] = batch.body.results;
  await advanceTime(service, '11 minutes');
  await notifyAuthors(service);
  const undo = (by: Moderator, version: number) =>
    by.post(`decisions/${event_id}/undo`, { expected_version: version });
  t.equal(reasonOf(await undo(lea, 2)), 'second_person_required');
  matchAll(t, (await lea.post(`batches/${batch.body.batch_id}/undo`, {})).body.results, [
    { status: 'state_conflict', error: { reason: 'second_person_required' } },
    { status: 'state_conflict', error: { reason: 'second_person_required' } },
  ]);
  const path = `/api/guestbook/${note.id}/appeal`;
  const { cookie } = author;
  t.equal((await service.call('POST', path, { body: { text: 'Why?' }, cookie })).status, 202);
  t.equal(reasonOf(await undo(lea, 3)), 'second_person_required', 'nor while an appeal is open');
  t.match((await lea.get(`notes/${note.id}`)).body.item.decision, { undo_allowed: false });
  t.match((await max.get(`notes/${note.id}`)).body.item.decision, { undo_allowed: true });
  const undone = await undo(max, 3);
  t.match(undone.body, { status: 'undone', state: 'approved', version: 5 }, undone.text);
  const { item } = (await max.get(`notes/${note.id}`)).body;
  t.match(item, { state: 'approved', appeal: { state: 'granted' } });
  t.match((await readFeed(service, author.id)).at(-1), {
    type: 'appeal.granted',
    data: { note_id: note.id, decision_id: event_id },
  });
});

t.test('answers the undo of a batch with one result per note', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const notes = [await submit(service), await submit(service)];
  for (const { id } of notes) await decide(ann, id, 'approve');
  const items = notes.map(({ id }) => ({ note_id: id, expected_version: 2 }));
  const removed = await ann.post('decisions/batch', { action: 'remove', policy: 'spam', items });
  const undo = `batches/${removed.body.batch_id}/undo`;
  t.equal((await ann.post(undo, {})).body.results.length, 2);
  matchAll(t, (await ann.post(undo, {})).body.results, [
    { status: 'state_conflict' },
    { status: 'state_conflict' },
  ]);
  t.equal((await ann.post(undo, {})).body.results.length, 2);
});

t.test('lets triage escalate and defer, and refuses it decisions', async (t) => {
  const service = await startService(t);
  const tri = await addModerator(service, 'Tri', 'triage');
  const lea = await addModerator(service, 'Lea', 'lead');
  const [one, two] = [await submit(service), await submit(service)];
  for (const action of ['approve', 'keep', 'grant', 'uphold', 'restore'])
    t.equal((await act(tri, one.id, action, 1)).status, 403, action);
  t.equal((await act(tri, one.id, 'escalate', 1)).status, 400, 'a reason is required');
  const escalated = await act(tri, two.id, 'escalate', 1, { message: 'A lawyer should look' });
  t.match(escalated.body, { state: 'pending', version: 2, undo_until: String });
  const ids = async (who: Moderator, view: string) =>
    (await who.get(`queue?view=${view}`)).body.items.map(({ id }: { id: string }) => id);
  t.same(await ids(tri, 'todo'), [one.id]);
  t.same(await ids(tri, 'escalated'), [two.id]);
  t.same(await ids(lea, 'todo'), [two.id, one.id], 'a lead sees escalated notes first');
  t.match((await lea.get(`notes/${two.id}`)).body.history.at(-1), {
    type: 'NoteEscalated',
    text: 'A lawyer should look',
  });

  const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();
  t.equal((await act(tri, one.id, 'defer', 1, { until: hours(73) })).status, 400);
  t.equal((await act(tri, one.id, 'defer', 1, { until: hours(-1) })).status, 400);
  t.equal((await act(tri, one.id, 'defer', 1, { until: hours(2) })).status, 201);
  t.same(await ids(tri, 'todo'), [], 'a deferred note is hidden until it is due');
  t.same((await tri.post('claims', { count: 1 })).body.claims, []);
  await advanceTime(service, '1 hour');
  t.equal((await act(tri, one.id, 'defer', 2)).status, 201);
  const { deferred_until } = (await tri.get(`notes/${one.id}`)).body.item;
  const hoursAhead = (Date.parse(deferred_until) - Date.now()) / 3_600_000;
  t.ok(hoursAhead > 23.9 && hoursAhead <= 24, 'the default is a day');
  t.equal((await act(tri, one.id, 'defer', 3)).body.tier, 'normal');
  const fourth = await act(tri, one.id, 'defer', 4);
  t.match(
    fourth.body,
    { state: 'pending', tier: 'lead' },
    'a fourth deferral escalates and says so',
  );
  matchAll(t, (await lea.get('queue')).body.items, [{ id: one.id, tier: 'lead' }, { id: two.id }]);
  await act(tri, one.id, 'defer', 5);
  t.match(
    (await lea.get('queue')).body.items[0],
    { id: one.id },
    'a note is not deferred without end',
  );
  await act(lea, one.id, 'defer', 6);
  t.same(await ids(lea, 'todo'), [two.id], "a lead's deferral does not escalate");

  const items = [{ note_id: two.id, expected_version: 2 }];
  const batch = await tri.post('decisions/batch', { action: 'approve', items });
  t.equal(batch.body.status, 'role_required', 'a batch with a forbidden action has one answer');
  t.equal(
    (await act(tri, randomUUID(), 'approve', 1)).status,
    403,
    'the role is checked before the note',
  );
  t.equal((await act(tri, two.id, 'reject', 2, { policy: 'taste' })).status, 403);
});

t.test("keeps a reply private when its approval races its parent's removal", async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  for (let round = 0; round < 4; round++) {
    const parent = await submit(service);
    await decide(ann, parent.id, 'approve');
    const reply = await submit(service, { parent_id: parent.id });
    const [, approved] = await Promise.all([
      act(bob, parent.id, 'remove', 2, { policy: 'spam' }),
      decide(ann, reply.id, 'approve'),
    ]);
    t.ok(approved.status === 201 || reasonOf(approved) === 'parent_not_public');
    const late = await act(ann, reply.id, 'approve', approved.status === 201 ? 2 : 1);
    t.equal(late.status, 409);
    const read = await service.call('GET', `/api/guestbook?parent_id=${parent.id}`);
    const absent = await service.call('GET', `/api/guestbook?parent_id=${randomUUID()}`);
    t.equal(read.status, 404);
    t.equal(read.text, absent.text, 'equal to the answer for a missing parent');
  }
});

t.test('answers a batch with a result per item and undoes it as one', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const parent = await submit(service);
  const held = await submit(service);
  const gone = randomUUID();
  await bob.post('claims', { note_ids: [held.id] });
  const item = (note_id: string, expected_version = 1) => ({ note_id, expected_version });
  const stale = await submit(service);
  const batch = {
    action: 'approve',
    items: [item(gone), item(held.id), item(parent.id), item(stale.id, 7)],
  };
  const answer = await ann.post('decisions/batch', batch);
  t.equal(answer.status, 200);
  matchAll(t, answer.body.results, [
    { note_id: gone, status: 'not_found' },
    { note_id: held.id, status: 'state_conflict', error: { reason: 'claimed_by_other' } },
    { note_id: parent.id, status: 'decided', state: 'approved', version: 2 },
    { note_id: stale.id, status: 'state_conflict', error: { reason: 'version_mismatch' } },
  ]);
  t.same(await listPublic(service), [parent.id]);
  const undo = `batches/${answer.body.batch_id}/undo`;
  matchAll(t, (await bob.post(undo, {})).body.results, [{ status: 'role_required' }]);
  const undone = await ann.post(undo, {});
  t.match(undone.body, { status: 'undone', results: [{ note_id: parent.id, state: 'pending' }] });
  t.same(await listPublic(service), []);
  t.equal((await ann.post(`batches/${randomUUID()}/undo`, {})).status, 404);
  const repeated = { action: 'approve', items: [item(parent.id), item(parent.id)] };
  t.equal((await ann.post('decisions/batch', repeated)).status, 400);
  const many = Array.from({ length: 101 }, () => item(randomUUID()));
  t.equal((await ann.post('decisions/batch', { action: 'approve', items: many })).status, 400);
});

t.test('decides on a hundred notes in one batch', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const notes = [];
  for (let n = 0; n < 100; n++) notes.push(await submit(service));
  const items = notes.map(({ id }) => ({ note_id: id, expected_version: 1 }));
  const { body } = await ann.post('decisions/batch', { action: 'reject', policy: 'spam', items });
  t.same([...new Set(body.results.map(({ status }: { status: string }) => status))], ['decided']);
  t.equal((await ann.get('queue')).body.counts.todo, 0);
});

t.test('executes every POST of a moderator once per idempotency key', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const notes = [await submit(service), await submit(service), await submit(service)];
  const [one, two] = notes.map(({ id }) => id);
  const keyed = (key: string) => (path: string, body: object) =>
    service.call('POST', `/api/moderation/${path}`, {
      body,
      headers: { authorization: `Bearer ${ann.token}`, 'idempotency-key': key },
    });
  const postTwice = async (path: string, body: object) => {
    const post = keyed(randomUUID());
    const answers = await Promise.all([post(path, body), post(path, body)]);
    const [first, second] = answers.map(({ status, body }) => ({ status, body }));
    t.same(first, second, path);
    const replays = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
    t.equal(replays.length, 1, `${path}: one replay`);
    t.equal((await post(path, { ...body, count: 9 })).status === 200, false);
    return answers[0].body;
  };
  const { claims } = await postTwice('claims', { count: 1 });
  t.equal(claims.length, 1);
  t.equal((await ann.get('me')).body.leases.length, 1);
  const lease_ids = claims.map(({ lease_id }: { lease_id: string }) => lease_id);
  t.same((await postTwice('claims/renew', { lease_ids })).renewed, lease_ids);
  t.same((await postTwice('claims/release', { lease_ids })).released, lease_ids);
  const decided = await postTwice(`notes/${one}/decisions`, {
    action: 'approve',
    expected_version: 1,
  });
  await postTwice(`decisions/${decided.event_id}/undo`, { expected_version: 2 });
  const items = [{ note_id: two, expected_version: 1 }];
  const batch = await postTwice('decisions/batch', { action: 'approve', items });
  await postTwice(`batches/${batch.batch_id}/undo`, {});

  const late = keyed(randomUUID());
  for (const turn of ['once', 'twice']) {
    const { status, headers, body } = await late('decisions/batch', { action: 'approve', items });
    t.same([status, body.results[0].error.reason], [200, 'version_mismatch'], turn);
    t.equal(headers.get('idempotency-replayed'), null, 'a refusal keeps no receipt');
  }

  const key = randomUUID();
  const body = { action: 'approve', expected_version: 3 };
  t.equal((await keyed(key)(`notes/${one}/decisions`, body)).status, 201);
  const elsewhere = await keyed(key)(`notes/${two}/decisions`, body);
  t.equal(elsewhere.body.status, 'idempotency_conflict');
  t.equal((await keyed('no')(`notes/${two}/decisions`, body)).status, 400);
  const { rows } = await service.database.pool.query(`SELECT reply FROM receipts`);
  t.notMatch(JSON.stringify(rows), notes[2]?.message, 'receipts hold no text');
});

t.test('notifies nobody of a decision that was undone', async (t) => {
  const service = await startService(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  const note = await submit(service);
  const { body } = await decide(lea, note.id, 'approve');
  const reply = await submit(service, { parent_id: note.id });
  await decide(lea, reply.id, 'approve');
  await lea.post(`decisions/${body.event_id}/undo`, { expected_version: 2 });
  await advanceTime(service, '11 minutes');
  t.equal(await notifyAuthors(service), 0, 'guests are not notified');
});
