import t from 'tap';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

const act = (one: Moderator, id: string, action: string, version: number, more: object = {}) =>
  one.post(`notes/${id}/decisions`, { action, expected_version: version, ...more });

const inHours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();

const idsOf = async (who: Moderator, query: string): Promise<string[]> =>
  (await who.get(`queue?${query}`)).body.items.map(({ id }: { id: string }) => id);

const reasonOf = (answer: { body: { error: { reason: string } } }) => answer.body.error.reason;

async function addModerators(service: Service) {
  return {
    tri: await addModerator(service, 'Tri', 'triage'),
    ann: await addModerator(service, 'Ann'),
    bob: await addModerator(service, 'Bob'),
    lea: await addModerator(service, 'Lea', 'lead'),
  };
}

t.test('lists and counts deferred notes by due time until they are due', async (t) => {
  const service = await startService(t);
  const { ann, tri } = await addModerators(service);
  const [one, two, three] = [await submit(service), await submit(service), await submit(service)];
  await act(ann, one.id, 'defer', 1, { until: inHours(3) });
  await act(tri, two.id, 'defer', 1, { until: inHours(1) });
  t.same(await idsOf(ann, 'view=deferred'), [two.id, one.id]);
  const { body } = await ann.get('queue?view=deferred&limit=1');
  t.match(body, { counts: { deferred: 2, todo: 1 }, items: [{ id: two.id }] });
  t.same(await idsOf(ann, `view=deferred&limit=1&cursor=${body.next_cursor}`), [one.id]);
  t.match(body.items[0], {
    deferred_until: String,
    decision: { decision: 'deferred', moderator: { name: 'Tri' }, undo_allowed: false },
  });
  await service.tamper(
    `UPDATE notes SET deferred_until = clock_timestamp() WHERE note_id = '${two.id}'`,
  );
  t.same(await idsOf(ann, 'view=deferred'), [one.id], 'a due note returns to the queue');
  t.same(await idsOf(ann, 'view=todo'), [two.id, three.id]);
  const due = (await ann.get(`notes/${two.id}`)).body.item;
  t.match(due, { deferred_until: null, decision: null });
});

t.test('undoes a deferral for its moderator in time, for a lead at any time', async (t) => {
  const service = await startService(t);
  const { tri, ann, bob, lea } = await addModerators(service);
  const note = await submit(service);
  const first = await act(tri, note.id, 'defer', 1, { until: inHours(70) });
  t.match(first.body, { state: 'pending', version: 2, undo_until: String });
  const undo = (who: Moderator, of: string, version: number) =>
    who.post(`decisions/${of}/undo`, { expected_version: version });
  const undone = await undo(tri, first.body.event_id, 2);
  t.match(undone.body, { status: 'undone', state: 'pending', version: 3 });
  t.same(await idsOf(tri, 'view=todo'), [note.id]);
  t.match((await tri.get('queue')).body.counts, { todo: 1, deferred: 0 });
  t.equal(
    reasonOf(await undo(tri, first.body.event_id, 3)),
    'wrong_state',
    'a second undo is refused',
  );

  const second = await act(tri, note.id, 'defer', 3, { until: inHours(70) });
  await advanceTime(service, '11 minutes');
  t.equal(reasonOf(await undo(tri, second.body.event_id, 4)), 'undo_expired');
  t.match((await tri.get(`notes/${note.id}`)).body.item.decision, { undo_allowed: false });
  t.match((await bob.get(`notes/${note.id}`)).body.item.decision, { undo_allowed: false });
  t.equal((await undo(bob, second.body.event_id, 4)).status, 403);
  t.match((await lea.get(`notes/${note.id}`)).body.item.decision, { undo_allowed: true });
  t.equal((await undo(lea, second.body.event_id, 4)).status, 201);
  t.match((await ann.get(`notes/${note.id}`)).body, {
    item: { deferred_until: null, decision: null, version: 5 },
    history: { 4: { type: 'DecisionUndone', actor: { name: 'Lea' } } },
  });
  for (let version = 5; version < 11; version += 2) {
    const again = await act(tri, note.id, 'defer', version);
    t.equal(again.body.tier, 'normal', 'an undone deferral does not count');
    await undo(tri, again.body.event_id, version + 1);
  }
  t.equal((await ann.get('stats')).body.decisions, 0, 'deferrals and undos are no decisions');
});

t.test('undoes an escalation for its moderator in time, for a lead at any time', async (t) => {
  const service = await startService(t);
  const { tri, ann, lea } = await addModerators(service);
  const note = await submit(service);
  const escalate = (version: number) =>
    act(tri, note.id, 'escalate', version, { message: 'Please look' });
  const first = await escalate(1);
  t.match((await lea.get(`notes/${note.id}`)).body.item.decision, {
    decision: 'escalated',
    message: 'Please look',
    moderator: { name: 'Tri' },
    undo_allowed: true,
  });
  const undo = (who: Moderator, of: string, version: number) =>
    who.post(`decisions/${of}/undo`, { expected_version: version });
  const forbidden = await undo(ann, first.body.event_id, 2);
  t.same([forbidden.status, forbidden.body.status], [403, 'role_required']);
  t.equal((await undo(tri, first.body.event_id, 2)).status, 201);
  t.same(await idsOf(tri, 'view=escalated'), []);
  t.same(await idsOf(tri, 'view=todo'), [note.id]);
  const second = await escalate(3);
  await advanceTime(service, '11 minutes');
  t.equal(reasonOf(await undo(tri, second.body.event_id, 4)), 'undo_expired');
  t.equal((await undo(lea, second.body.event_id, 4)).status, 201);
  t.match((await lea.get(`notes/${note.id}`)).body.item, { tier: 'normal', decision: null });
});

t.test('undoes a batch of deferrals as one', async (t) => {
  const service = await startService(t);
  const { tri, ann } = await addModerators(service);
  const notes = [await submit(service), await submit(service)];
  const items = notes.map(({ id }) => ({ note_id: id, expected_version: 1 }));
  const { body } = await tri.post('decisions/batch', { action: 'defer', items });
  t.match((await ann.get('queue')).body.counts, { todo: 0, deferred: 2 });
  const undone = await tri.post(`batches/${body.batch_id}/undo`, {});
  t.match(undone.body, { status: 'undone', results: [{ status: 'undone' }, { status: 'undone' }] });
  t.match((await ann.get('queue')).body.counts, { todo: 2, deferred: 0 });
});

t.test('refuses triage the undo of an approval', async (t) => {
  const service = await startService(t);
  const { tri, ann } = await addModerators(service);
  const note = await submit(service);
  const { body } = await decide(ann, note.id, 'approve');
  const refused = await tri.post(`decisions/${body.event_id}/undo`, { expected_version: 2 });
  t.same([refused.status, refused.body.status], [403, 'role_required']);
});

t.test('tells a moderator with a stale version who decided, what and when', async (t) => {
  const service = await startService(t);
  const { tri, ann } = await addModerators(service);
  const [one, two] = [await submit(service), await submit(service)];
  await act(tri, one.id, 'defer', 1);
  await decide(ann, two.id, 'reject');
  t.match((await act(ann, one.id, 'approve', 1)).body.error, {
    reason: 'version_mismatch',
    decision: 'deferred',
    decided_by: { name: 'Tri' },
    decided_at: String,
  });
  t.match((await act(ann, two.id, 'approve', 1)).body.error, { decision: 'rejected' });
});

t.test('finds deferred and escalated notes in a search of the queue', async (t) => {
  const service = await startService(t);
  const { tri, ann, lea } = await addModerators(service);
  const submitText = async (message: string) => (await submit(service, { message })).id;
  const waiting = await submitText('A needle');
  const deferred = await submitText('The needle that is put off');
  const escalated = await submitText('A needle for a lead');
  const published = await submitText('A public needle');
  await submitText('Something else');
  await act(tri, deferred, 'defer', 1);
  await act(tri, escalated, 'escalate', 1, { message: 'Hard' });
  await decide(ann, published, 'approve');
  for (const who of [tri, ann, lea]) {
    t.same(await idsOf(who, 'q=needle'), [escalated, waiting, deferred], who.id);
    const first = (await who.get('queue?q=needle&limit=1')).body;
    t.same(await idsOf(who, `q=needle&limit=2&cursor=${first.next_cursor}`), [waiting, deferred]);
  }
  t.same(await idsOf(tri, 'view=deferred&q=needle'), [deferred]);
});
