import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import {
  addModerator,
  decide,
  type Moderator,
  submit,
  submitAs,
} from '../../../harness/moderation.ts';
import { publishArtifact, report as reportRecord } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime, notifyAuthors, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

// Undo of answers to reports and appeals; every service checks at its end that a rebuild of the read
// models gives the same rows.

type Member = Awaited<ReturnType<typeof signedIn>>;

const WINDOW = '601 seconds';

const addTeam = async (service: Service) => ({
  ann: await addModerator(service, 'Ann'),
  bob: await addModerator(service, 'Bob'),
  lea: await addModerator(service, 'Lea', 'lead'),
  lou: await addModerator(service, 'Lou', 'lead'),
});

const itemOf = async (by: Moderator, id: string) => (await by.get(`notes/${id}`)).body.item;

const act = async (by: Moderator, id: string, action: string, more: object = {}) => {
  const { version: expected_version } = await itemOf(by, id);
  return by.post(`notes/${id}/decisions`, { action, expected_version, ...more });
};

const undo = async (by: Moderator, id: string, eventId: string) => {
  const { version: expected_version } = await itemOf(by, id);
  return by.post(`decisions/${eventId}/undo`, { expected_version });
};

const report = (service: Service, id: string, { cookie }: Member, reason = 'spam') =>
  service.call('POST', `/api/guestbook/${id}/report`, { body: { reason }, cookie });

const appeal = async (service: Service, id: string, { cookie }: Member) => {
  const body = { text: 'Why?' };
  return service.call('POST', `/api/guestbook/${id}/appeal`, { body, cookie });
};

const typesOf = async (service: Service, { id }: Member) =>
  (await readFeed(service, id)).map(({ type }) => type);

const isPublic = async (service: Service, id: string) =>
  (await service.call('GET', '/api/guestbook')).body.entries.some(
    (entry: { id: string }) => entry.id === id,
  );

const ownNote = async (service: Service, { cookie }: Member) =>
  (await service.call('GET', '/api/membership/notes', { cookie })).body.notes[0];

async function reportedNote(service: Service, by: Moderator, reporters: readonly Member[]) {
  const { id } = await submit(service);
  await decide(by, id, 'approve');
  for (const reporter of reporters) t.equal((await report(service, id, reporter)).status, 202);
  return id;
}

/** A refused note whose author has been notified and has appealed. */
async function appealedNote(service: Service, by: Moderator, author: Member, how: string) {
  const { id } = await submitAs(service, author);
  if (how === 'remove') await decide(by, id, 'approve');
  await act(by, id, how, { policy: 'spam' });
  await advanceTime(service, WINDOW);
  await notifyAuthors(service);
  t.equal((await appeal(service, id, author)).status, 202);
  return id;
}

t.test(
  'brings the reports back when a dismissal is undone, and tells the reporter later',
  async (t) => {
    const service = await startService(t);
    const { ann, bob, lea } = await addTeam(service);
    const [reader, other] = [await signedIn(service), await signedIn(service)];
    const id = await reportedNote(service, ann, [reader]);
    const kept = await act(ann, id, 'keep');
    t.ok(Date.parse(kept.body.undo_until) > Date.now(), kept.text);
    t.match((await itemOf(ann, id)).decision, { decision: 'kept', undo_allowed: true });
    t.match((await itemOf(bob, id)).decision, { decision: 'kept', undo_allowed: false });
    t.equal((await report(service, id, other)).status, 202);
    const [received] = (await readFeed(service, other.id)).slice(-1);
    t.match(received, { type: 'report.received', data: { already_reviewed: false } });

    const foreign = await undo(bob, id, kept.body.event_id);
    t.equal(foreign.status, 403, 'another moderator does not undo it');
    const undone = await undo(ann, id, kept.body.event_id);
    t.match(undone.body, { status: 'undone', state: 'approved', undo_until: null }, undone.text);
    t.equal((await undo(ann, id, kept.body.event_id)).body.error.reason, 'wrong_state');
    const [item] = (await lea.get('queue?view=reported')).body.items;
    t.equal(item.id, id);
    matchAll(t, item.reports, [{ state: 'open' }, { state: 'open' }]);
    await advanceTime(service, WINDOW);
    await notifyAuthors(service);
    t.same(await typesOf(service, reader), ['report.received'], 'the dismissal is never announced');

    await act(bob, id, 'keep');
    t.same(await typesOf(service, reader), ['report.received']);
    await advanceTime(service, WINDOW);
    t.equal(await notifyAuthors(service), 1);
    t.equal(await notifyAuthors(service), 0);
    const [resolved] = (await readFeed(service, reader.id)).slice(-1);
    t.match(resolved, { type: 'report.resolved', data: { outcome: 'kept' } });
    t.strictSame(resolved?.actor, { type: 'moderator' }, 'the actor is not identified');
    t.match((await itemOf(ann, id)).decision, { decision: 'approved' });
    const late = await signedIn(service);
    await report(service, id, late);
    t.match((await readFeed(service, late.id)).at(-1), { data: { already_reviewed: true } });
    t.same((await lea.get('queue?view=reported')).body.items, []);
  },
);

for (const how of ['reject', 'remove'])
  t.test(`takes the note down and tells nothing when a grant is undone (${how})`, async (t) => {
    const service = await startService(t);
    const { ann, bob } = await addTeam(service);
    const [author, reader] = [await signedIn(service), await signedIn(service)];
    const id = await appealedNote(service, ann, author, how);
    const before = await typesOf(service, author);
    const waiting = await itemOf(bob, id);
    const granted = await act(bob, id, 'grant', { message: 'You are right.' });
    t.ok(Date.parse(granted.body.undo_until) > Date.now(), granted.text);
    t.equal(await isPublic(service, id), true, 'public at once');
    t.equal((await report(service, id, reader)).status, 202);
    t.same(await typesOf(service, author), before);

    const undone = await undo(bob, id, granted.body.event_id);
    const state = how === 'reject' ? 'rejected' : 'removed';
    t.match(undone.body, { status: 'undone', state }, undone.text);
    t.equal(await isPublic(service, id), false);
    const { rowCount } = await service.database.pool.query(
      'SELECT FROM activity WHERE subject_id = $1 AND NOT hidden AND NOT taken_down',
      [id],
    );
    t.equal(rowCount, 0, 'no list of the activity walks past its entry');
    const again = await itemOf(bob, id);
    t.match(again, { state, appeal: waiting.appeal, decision: waiting.decision });
    t.same(again.allowed_actions, waiting.allowed_actions);
    t.same((await itemOf(ann, id)).allowed_actions, [], 'still for a second person');
    matchAll(t, (await bob.get('queue?view=appeals')).body.items, [{ id }]);
    t.match((await readFeed(service, reader.id)).at(-1), {
      type: 'report.resolved',
      data: { outcome: 'removed' },
      actor: { type: 'moderator', id: undefined },
    });
    await advanceTime(service, WINDOW);
    await notifyAuthors(service);
    t.same(await typesOf(service, author), before, 'the grant is never announced');
    t.match(await ownNote(service, author), { state, appeal: 'open' });

    await act(bob, id, 'uphold');
    await advanceTime(service, WINDOW);
    t.equal(await notifyAuthors(service), 1);
    t.same(await typesOf(service, author), [...before, 'appeal.upheld']);
  });

t.test('hides an upheld decision from its author until the window has passed', async (t) => {
  const service = await startService(t);
  const { ann, bob } = await addTeam(service);
  const author = await signedIn(service);
  const id = await appealedNote(service, ann, author, 'reject');
  const outcome = async () =>
    (await service.call('GET', `/api/guestbook/${id}/outcome`, author)).body;
  const seen = async () => [await ownNote(service, author), await outcome()];
  const [open, before] = [await seen(), await typesOf(service, author)];
  const upheld = await act(bob, id, 'uphold', { message: 'It was unkind.' });
  t.ok(Date.parse(upheld.body.undo_until) > Date.now(), upheld.text);
  t.same(await seen(), open, 'the author sees an open appeal');
  t.equal((await appeal(service, id, author)).body.error.reason, 'already_appealed');
  const undone = await undo(bob, id, upheld.body.event_id);
  t.match(undone.body, { status: 'undone', state: 'rejected' }, undone.text);
  t.match(await itemOf(bob, id), { appeal: { state: 'open' } });
  await act(bob, id, 'uphold');
  await advanceTime(service, WINDOW);
  t.equal(await notifyAuthors(service), 1);
  t.same(await typesOf(service, author), [...before, 'appeal.upheld']);
  t.match(await ownNote(service, author), { appeal: 'upheld' });
});

t.test('after the window only a lead who did not decide undoes an answer', async (t) => {
  const service = await startService(t);
  const { ann, lea, lou } = await addTeam(service);
  const reader = await signedIn(service);
  const [one, two] = [
    await reportedNote(service, ann, [reader]),
    await reportedNote(service, ann, [reader]),
  ];
  const byAnn = (await act(ann, one, 'keep')).body.event_id;
  const byLea = (await act(lea, two, 'keep')).body.event_id;
  await advanceTime(service, WINDOW);
  t.equal((await undo(ann, one, byAnn)).body.error.reason, 'undo_expired');
  t.equal((await undo(lea, two, byLea)).body.error.reason, 'second_person_required');
  t.equal((await undo(lou, two, byLea)).status, 201);
  t.equal((await undo(lea, one, byAnn)).status, 201);
});

for (const how of ['reject', 'remove'])
  t.test(
    `a lead cannot undo the answer to an appeal against the lead's own decision (${how})`,
    async (t) => {
      const service = await startService(t);
      const { lea, lou, bob } = await addTeam(service);
      const author = await signedIn(service);
      for (const answer of ['grant', 'uphold']) {
        const id = await appealedNote(service, lea, author, how);
        const answered = (await act(bob, id, answer)).body;
        const isRefused = async () => {
          const refused = await undo(lea, id, answered.event_id);
          t.match(refused, { status: 409, body: { error: { reason: 'second_person_required' } } });
          t.equal((await itemOf(lea, id)).state, answered.state, `${answer} is in force`);
        };
        t.match((await itemOf(lea, id)).decision, {
          event_id: answered.event_id,
          undo_allowed: false,
        });
        t.match((await itemOf(lou, id)).decision, { undo_allowed: true });
        await isRefused();
        await advanceTime(service, WINDOW);
        await notifyAuthors(service);
        await isRefused();
        t.equal((await undo(lou, id, answered.event_id)).status, 201, 'another lead undoes it');
      }
    },
  );

t.test('refuses the undo of an answer once the note has moved on', async (t) => {
  const service = await startService(t);
  const { ann, bob, lea } = await addTeam(service);
  const [author, reader] = [await signedIn(service), await signedIn(service)];
  const kept = await reportedNote(service, ann, [reader]);
  const keep = (await act(ann, kept, 'keep')).body.event_id;
  await act(bob, kept, 'remove', { policy: 'spam' });
  t.equal((await undo(ann, kept, keep)).body.error.reason, 'wrong_state');

  const id = await appealedNote(service, ann, author, 'reject');
  const grant = (await act(bob, id, 'grant')).body.event_id;
  await act(lea, id, 'remove', { policy: 'spam' });
  t.equal((await undo(bob, id, grant)).body.error.reason, 'wrong_state');
  const stale = await act(lea, id, 'restore');
  t.equal(stale.body.error.reason, 'second_person_required');
  await advanceTime(service, WINDOW);
  await notifyAuthors(service);
  const types = await typesOf(service, author);
  t.same(
    types.slice(-2).sort(),
    ['appeal.granted', 'note.removed'],
    'both decisions are announced',
  );
  t.match((await readFeed(service, reader.id)).at(-1), { data: { outcome: 'kept' } });
});

t.test('lets one of two moderators undo or answer, never both', async (t) => {
  const service = await startService(t);
  const { ann, bob, lea } = await addTeam(service);
  const author = await signedIn(service);
  const id = await appealedNote(service, ann, author, 'reject');
  const { version } = await itemOf(bob, id);
  const body = (action: string) => ({ action, expected_version: version });
  const answers = await Promise.all([
    bob.post(`notes/${id}/decisions`, body('grant')),
    lea.post(`notes/${id}/decisions`, body('uphold')),
  ]);
  t.same(answers.map(({ status }) => status).sort(), [201, 409]);
  const won = answers.find(({ status }) => status === 201)?.body;
  const by = won.state === 'approved' ? bob : lea;
  const undos = await Promise.all(
    [by, lea].map((one) =>
      one.post(`decisions/${won.event_id}/undo`, { expected_version: won.version }),
    ),
  );
  t.same(undos.map(({ status }) => status).sort(), [201, 409]);
  t.match(await itemOf(bob, id), { state: 'rejected', appeal: { state: 'open' } });
});

t.test('undoes a batch of dismissals', async (t) => {
  const service = await startService(t);
  const { ann } = await addTeam(service);
  const reader = await signedIn(service);
  const ids = [
    await reportedNote(service, ann, [reader]),
    await reportedNote(service, ann, [reader]),
  ];
  const items = await Promise.all(
    ids.map(async (note_id) => ({
      note_id,
      expected_version: (await itemOf(ann, note_id)).version,
    })),
  );
  const { body } = await ann.post('decisions/batch', { action: 'keep', items });
  t.equal((await ann.get('queue')).body.counts.reported, 0);
  const undone = await ann.post(`batches/${body.batch_id}/undo`, {});
  matchAll(t, undone.body.results, [{ status: 'undone' }, { status: 'undone' }]);
  t.equal((await ann.get('queue')).body.counts.reported, 2);
});

t.test('erases a note whose grant is undone after its author has left', async (t) => {
  const service = await startService(t);
  const { ann, bob } = await addTeam(service);
  const author = await signedIn(service);
  const id = await appealedNote(service, ann, author, 'remove');
  const granted = (await act(bob, id, 'grant')).body;
  await service.tamper(`UPDATE members SET state = 'deactivated' WHERE member_id = $1`, [
    author.id,
  ]);
  const undone = await undo(bob, id, granted.event_id);
  t.equal(undone.status, 201, undone.text);
  t.match(await itemOf(bob, id), {
    state: 'removed',
    erased: true,
    text: '',
    appeal: { state: 'moot' },
  });
});

t.test(
  'an answer of an earlier release was announced when it was given, and is final',
  async (t) => {
    const service = await startService(t);
    const { ann, lea } = await addTeam(service);
    const reader = await signedIn(service);
    const id = await reportedNote(service, ann, [reader]);
    const { event_id } = (await act(ann, id, 'keep')).body;
    const record = await publishArtifact(await newAgent(service));
    await reportRecord(await newAgent(service), record);
    const path = `subjects/artifact/${record.id}`;
    const { version: expected_version } = (await ann.get(path)).body.item;
    const onRecord = await ann.post(`${path}/decisions`, { action: 'keep', expected_version });
    t.equal(onRecord.status, 201, onRecord.text);
    const { pool } = service.database;
    await pool.query('ALTER TABLE events DISABLE TRIGGER events_keep_rows');
    await pool.query(`UPDATE events SET data = data - 'undoable'`);
    await advanceTime(service, '1 second');
    const { rows } = await pool.query(`SELECT told_at = decided_at AS told
    FROM note_decisions WHERE decision = 'kept' UNION ALL
    SELECT told_at = decided_at FROM record_decisions WHERE decision = 'kept'`);
    t.same(rows, [{ told: true }, { told: true }], 'as migration 0014 leaves it');
    for (const by of [ann, lea])
      t.equal((await undo(by, id, event_id)).body.error.reason, 'wrong_state');
    t.equal(await notifyAuthors(service), 0, 'no second announcement');
  },
);
