import { randomUUID } from 'node:crypto';
import t from 'tap';
import { addModerator, decide, submitAs } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { screenNote } from '../../../workers/screening/screen-note.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';
import { tracesInTables } from '../../support/traces.ts';

type Member = Awaited<ReturnType<typeof signedIn>>;

const correct = (
  service: Service,
  id: string,
  message: string,
  { cookie }: Pick<Member, 'cookie'>,
  headers: Record<string, string> = {},
) => service.call('POST', `/api/guestbook/${id}/correct`, { body: { message }, cookie, headers });

async function started(t: Parameters<typeof startService>[0]) {
  const service = await startService(t, { LIMIT_NOTES_PER_TEN_MINUTES: '1000' });
  const [ann, member] = [await addModerator(service, 'Ann'), await signedIn(service)];
  const listed = async (id: string) => {
    const { body } = await service.call('GET', '/api/membership/notes', member);
    return body.notes.find((note: { id: string }) => note.id === id);
  };
  return { service, ann, member, listed };
}

t.test('replaces the text of a waiting note, which keeps its place and its age', async (t) => {
  const { service, ann, member, listed } = await started(t);
  const { id } = await submitAs(service, member, { message: 'Hello from the harbuor' });
  await submitAs(service, member);
  const before = await listed(id);
  t.same(before.actions, ['correct', 'withdraw']);
  const corrected = await correct(service, id, 'Hello from the harbour', member);
  t.match(corrected, { status: 200, body: { status: 'pending_review', id, version: 2 } });
  const after = await listed(id);
  t.same(after, { ...before, message: 'Hello from the harbour' });
  const { body: queue } = await ann.get('queue');
  t.match(queue.items[0], { id, text: 'Hello from the harbour', version: 2 });

  const stale = await ann.post(`notes/${id}/decisions`, { action: 'approve', expected_version: 1 });
  t.match(stale, { status: 409, body: { error: { reason: 'version_mismatch' } } });
  const approval = { action: 'approve', expected_version: 2 };
  t.equal((await ann.post(`notes/${id}/decisions`, approval)).status, 201);
  const { body: page } = await service.call('GET', '/api/guestbook');
  t.match(page.entries, [{ id, message: 'Hello from the harbour' }]);
});

t.test('leaves nothing of the former text', async (t) => {
  const { service, ann, member } = await started(t);
  const former = 'uncorrectedword1 write to me at uncorrectedword2@example.com';
  const submitted = await submitAs(service, member, { message: former });
  const { id } = submitted;
  await screenNote(service.core, { note_id: id });
  await ann.post(`subjects/note/${id}/comments`, { text: 'Has an address.' });
  const hashes = async () =>
    (await service.database.pool.query('SELECT hash FROM note_fingerprints')).rows;
  const before = await hashes();
  t.not((await tracesInTables(service.database.pool, [former])).length, 0);

  const key = randomUUID();
  const again = () => correct(service, id, 'Hello', member, { 'idempotency-key': key });
  const first = await again();
  t.equal(first.status, 200, first.text);
  t.same(await tracesInTables(service.database.pool, [former]), []);
  t.same(await hashes(), []);
  const repeated = await again();
  t.same([repeated.status, repeated.body], [200, first.body]);
  t.equal(repeated.headers.get('idempotency-replayed'), 'true');
  const other = await correct(service, id, 'Other', member, { 'idempotency-key': key });
  t.match(other, { status: 409, body: { status: 'idempotency_conflict' } });

  await screenNote(service.core, { note_id: id });
  t.not((await hashes()).length, 0);
  t.notMatch(await hashes(), before);
  t.match((await ann.get('queue')).body.items, [{ text: 'Hello', screening: { findings: [] } }]);
  const comments = await ann.get(`subjects/note/${id}/comments`);
  t.match(comments.body.comments, [{ text: 'Has an address.' }], 'comments stay');

  const repeat = await service.call('POST', '/api/guestbook', {
    body: submitted,
    cookie: member.cookie,
  });
  t.match(repeat, { status: 200, body: { status: 'pending_review', id } }, 'a repeated submission');
  t.same(await tracesInTables(service.database.pool, [former]), []);
});

t.test(
  'refuses to correct a note that a moderator holds, and does not name the moderator',
  async (t) => {
    const { service, ann, member, listed } = await started(t);
    const { id } = await submitAs(service, member);
    const rejected = await submitAs(service, member);
    t.equal((await ann.post('claims', { note_ids: [id] })).status, 200);
    const rejection = { action: 'reject', expected_version: 1, policy: 'spam' };
    t.equal((await ann.post(`notes/${rejected.id}/decisions`, rejection)).status, 201);
    const answers = [id, rejected.id].map((note) => correct(service, note, 'Better', member));
    for (const { status, body } of await Promise.all(answers)) {
      t.equal(status, 409);
      t.match(body, { status: 'state_conflict', error: { reason: 'under_review' } });
      t.notMatch(JSON.stringify(body), /Ann|claim|held_by/);
    }
    for (const note of [id, rejected.id]) t.same((await listed(note)).actions, ['withdraw']);
    await advanceTime(service, '601 seconds');
    const late = await correct(service, rejected.id, 'Better', member);
    t.match(late, { status: 409, body: { error: { reason: 'wrong_state' } } });
  },
);

t.test('refuses notes of others, of guests and unknown ones alike', async (t) => {
  const { service, ann, member } = await started(t);
  const stranger = await signedIn(service);
  const { id } = await submitAs(service, stranger);
  const guest = randomUUID();
  await service.call('POST', '/api/guestbook', {
    body: { id: guest, message: 'Hi' },
    headers: { origin: service.baseUrl },
  });
  for (const note of [id, guest, randomUUID()]) {
    const refused = await correct(service, note, 'Mine', member);
    t.match(refused, { status: 404, body: { status: 'not_found' } });
  }
  t.equal((await decide(ann, id, 'approve')).status, 201);
  t.match((await correct(service, id, 'Late', stranger)).body.error, { reason: 'wrong_state' });
  t.equal((await correct(service, id, 'Late', { cookie: 'none' })).status, 401);
  for (const message of ['', ' '.repeat(3), 'x'.repeat(501)])
    t.equal((await correct(service, id, message, stranger)).status, 400, message);
});

t.test('allows five corrections of a note; one without a change does not count', async (t) => {
  const { service, member, listed } = await started(t);
  const { id } = await submitAs(service, member);
  for (let n = 1; n <= 5; n++) {
    for (let twice = 0; twice < 2; twice++) {
      const { body } = await correct(service, id, `Version ${n}`, member);
      t.match(body, { version: n + 1 });
    }
  }
  t.match((await correct(service, id, 'Once more', member)).body.error, {
    reason: 'correction_limit',
  });
  t.same((await listed(id)).actions, ['withdraw']);
});

t.test('counts a correction like a new note', async (t) => {
  const service = await startService(t, { LIMIT_NOTES_PER_TEN_MINUTES: '2' });
  const member = await signedIn(service);
  const { id } = await submitAs(service, member);
  t.equal((await correct(service, id, 'Better', member)).status, 200);
  const refused = await correct(service, id, 'Best', member);
  t.match(refused, { status: 429, body: { status: 'rate_limited' } });
});

t.test('never approves a text that the moderator has not read', async (t) => {
  const { service, ann, member } = await started(t);
  for (let race = 0; race < 20; race++) {
    const { id } = await submitAs(service, member, { message: `Former ${race}` });
    const [corrected, approved] = await Promise.all([
      correct(service, id, `New ${race}`, member),
      ann.post(`notes/${id}/decisions`, { action: 'approve', expected_version: 1 }),
    ]);
    t.same(
      [corrected.status, approved.status].toSorted(),
      corrected.status === 200 ? [200, 409] : [201, 409],
    );
    const { rows } = await service.database.pool.query(
      'SELECT state, message FROM notes WHERE note_id = $1',
      [id],
    );
    t.same(rows, [
      corrected.status === 200
        ? { state: 'pending', message: `New ${race}` }
        : { state: 'approved', message: `Former ${race}` },
    ]);
  }
});

t.test('records no screening of the former text on the new one', async (t) => {
  const { service, ann, member } = await started(t);
  const { id } = await submitAs(service, member, { message: 'Write to a@example.com' });
  const { core } = service;
  const store: EventStore = {
    ...core.store,
    // The screening has read the text; its author corrects it before the findings are recorded.
    async execute(plan, execution) {
      t.equal((await correct(service, id, 'Good morning', member)).status, 200);
      return core.store.execute(plan, execution);
    },
  };
  t.equal(await screenNote({ ...core, store }, { note_id: id }), false);
  t.match((await ann.get('queue')).body.items, [{ screening: { state: 'pending' } }]);
});

t.test('remembers the corrected text of a note that is decided unscreened', async (t) => {
  const { service, ann, member } = await started(t);
  const { id } = await submitAs(service, member, { message: 'Buy my engine' });
  await screenNote(service.core, { note_id: id });
  t.equal((await correct(service, id, 'Buy my other engine', member)).status, 200);
  const rejection = { action: 'reject', expected_version: 2, policy: 'spam' };
  t.equal((await ann.post(`notes/${id}/decisions`, rejection)).status, 201);
  const again = await submitAs(service, member, { message: 'Buy my other engine' });
  await screenNote(service.core, { note_id: again.id });
  t.match((await ann.get('queue')).body.items, [
    { screening: { findings: [{ code: 'same_as_rejected' }] } },
  ]);
});

t.test(
  'corrects a note that waits again after an undo, and counts its findings anew',
  async (t) => {
    const { service, ann, member } = await started(t);
    const { id } = await submitAs(service, member, { message: 'Write to ada@example.com' });
    await screenNote(service.core, { note_id: id });
    const approved = await decide(ann, id, 'approve');
    const undone = await ann.post(`decisions/${approved.body.event_id}/undo`, {
      expected_version: 2,
    });
    t.equal(undone.status, 201, undone.text);
    t.equal((await correct(service, id, 'Write to me', member)).status, 200);
    const { rows } = await service.database.pool.query(
      'SELECT findings FROM decision_figures WHERE note_id = $1',
      [id],
    );
    t.same(rows, [{ findings: null }]);
  },
);
