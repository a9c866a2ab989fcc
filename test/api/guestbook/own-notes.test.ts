import t from 'tap';
import { addModerator, decide, submit, submitAs } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

type Member = Awaited<ReturnType<typeof signedIn>>;

const LIST = '/api/membership/notes';

const readList = (service: Service, { cookie }: Member, query = '') =>
  service.call('GET', `${LIST}${query}`, { cookie });

const post = (service: Service, path: string, body: object, { cookie }: Member) =>
  service.call('POST', `/api/guestbook/${path}`, { body, cookie });

const idsOf = ({ body }: { body: { notes: { id: string }[] } }) => body.notes.map(({ id }) => id);

t.test("lists a member's own notes, newest first and in pages", async (t) => {
  const service = await startService(t);
  const [member, stranger] = [await signedIn(service), await signedIn(service)];
  const notes = [];
  for (let n = 0; n < 5; n++) notes.unshift((await submitAs(service, member)).id);
  await submitAs(service, stranger);
  await submit(service);

  const all = await readList(service, member);
  t.equal(all.status, 200, all.text);
  t.same(idsOf(all), notes);
  t.match(all.body, { status: 'ok', next_cursor: null, has_more: false });
  t.equal(all.headers.get('cache-control'), 'no-store');
  t.match(all.body.notes[0], {
    experience: 'service',
    parent_id: null,
    message: String,
    state: 'pending',
    outcome: { status: 'pending_review', outcome: null, policy: null, appeal_until: null },
    appeal: null,
    actions: ['correct', 'withdraw'],
    approved_at: null,
  });

  const first = await readList(service, member, '?limit=2');
  const second = await readList(service, member, `?limit=2&cursor=${first.body.next_cursor}`);
  const third = await readList(service, member, `?limit=2&cursor=${second.body.next_cursor}`);
  t.same([first, second, third].flatMap(idsOf), notes);
  t.equal(third.body.has_more, false);
  t.match(await readList(service, member, '?cursor=none'), {
    status: 400,
    body: { status: 'invalid_cursor' },
  });
  t.match(await service.call('GET', LIST), { status: 401, body: { status: 'session_required' } });
});

t.test('pages over notes that were submitted at the same moment', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  for (let n = 0; n < 5; n++) await submitAs(service, member);
  await service.tamper('UPDATE notes SET submitted_at = now()');
  const seen = [];
  for (let cursor = ''; ; ) {
    const page = await readList(service, member, `?limit=2${cursor}`);
    seen.push(...idsOf(page));
    if (!page.body.has_more) break;
    cursor = `&cursor=${page.body.next_cursor}`;
  }
  t.equal(seen.length, 5);
  t.equal(new Set(seen).size, 5);
});

t.test('tells the author of a rejection only when it can no longer be undone', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const pending = await submitAs(service, member);
  const rejected = await submitAs(service, member);
  const rejection = { action: 'reject', expected_version: 1, policy: 'abuse', message: 'Be kind.' };
  t.equal((await ann.post(`notes/${rejected.id}/decisions`, rejection)).status, 201);

  t.equal((await ann.post('claims', { note_ids: [pending.id] })).status, 200);

  const [newer, older] = (await readList(service, member)).body.notes;
  const alike = ({ id, submitted_at: _, ...note }: { id: string; submitted_at: string }) =>
    JSON.stringify(note).replaceAll(id, 'ID');
  t.equal(
    alike(newer),
    alike(older),
    'within the window, it is like a note that a moderator holds',
  );
  t.equal(older.id, pending.id);

  await advanceTime(service, '601 seconds');
  const listed = (await readList(service, member)).body.notes[0];
  t.match(listed, {
    state: 'rejected',
    outcome: {
      status: 'not_published',
      outcome: 'rejected',
      policy: 'abuse',
      message: 'Be kind.',
      appeal_until: String,
    },
    actions: ['appeal'],
  });
  const { body: outcome } = await service.call(
    'GET',
    `/api/guestbook/${rejected.id}/outcome`,
    member,
  );
  t.same(listed.outcome, outcome, 'the outcome is the same as that of the note alone');

  t.equal((await post(service, `${rejected.id}/appeal`, { text: 'Why?' }, member)).status, 202);
  t.match((await readList(service, member)).body.notes[0], { appeal: 'open', actions: [] });
});

t.test('offers what may be done with a public, a removed and a withdrawn note', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const removed = await submitAs(service, member);
  const approved = await submitAs(service, member);
  const withdrawn = await submitAs(service, member);
  for (const { id } of [removed, approved]) t.equal((await decide(ann, id, 'approve')).status, 201);
  const removal = { action: 'remove', expected_version: 2, policy: 'spam' };
  t.equal((await ann.post(`notes/${removed.id}/decisions`, removal)).status, 201);
  t.equal((await post(service, `${withdrawn.id}/withdraw`, {}, member)).status, 200);
  const shown = (await readList(service, member)).body.notes;
  t.match(shown, [
    { state: 'withdrawn', outcome: { outcome: 'withdrawn' }, actions: [] },
    { state: 'approved', outcome: { status: 'published' }, actions: ['withdraw'] },
    { state: 'removed', outcome: { outcome: 'removed', policy: null }, actions: ['appeal'] },
  ]);
  t.type(shown[1].approved_at, 'string');
});
