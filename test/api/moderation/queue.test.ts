import t from 'tap';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import { MAX_RARE_MATCHES, MAX_SCANNED } from '../../../services/moderation/queue/queue-page.ts';
import { insertNotesOfOthers } from '../../support/decided-notes.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { startService } from '../../support/service.ts';

type Item = { id: string };

const idsOf = (answer: { body: { items: Item[] } }) => answer.body.items.map(({ id }) => id);

/** Returns all ids of a view, page by page. */
async function readAllPages(who: Moderator, query: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const answer = await who.get(`queue?${query}${cursor}`);
    ids.push(...idsOf(answer));
    if (answer.body.next_cursor === null) return ids;
    cursor = `&cursor=${answer.body.next_cursor}`;
  }
}

t.test('pages through each view in its order without a gap', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const lea = await addModerator(service, 'Lea', 'lead');
  const notes: string[] = [];
  for (let n = 0; n < 12; n++) notes.push((await submit(service)).id);
  const [a = '', b = ''] = [notes[4], notes[9]];
  for (const id of [b, a])
    await ann.post(`notes/${id}/decisions`, {
      action: 'escalate',
      expected_version: 1,
      message: 'Please look',
    });
  const normal = notes.filter((id) => id !== a && id !== b);
  t.same(await readAllPages(ann, 'limit=3'), normal);
  t.same(await readAllPages(lea, 'limit=3'), [a, b, ...normal]);
  t.same(await readAllPages(lea, 'limit=1'), [a, b, ...normal]);
  t.same(await readAllPages(ann, 'view=escalated&limit=1'), [a, b]);
  t.match((await lea.get('queue')).body.counts, { todo: 12, escalated: 2, mine: 0 });
  t.match((await ann.get('queue')).body.counts, { todo: 10, escalated: 2, mine: 0 });

  const decided = normal.slice(0, 5);
  for (const id of decided) await decide(ann, id, id === decided[2] ? 'reject' : 'approve');
  t.same(await readAllPages(ann, 'view=decided&limit=2'), decided.toReversed());
  for (const id of decided.slice(3))
    await service.call('POST', `/api/guestbook/${id}/report`, { body: { reason: 'spam' } });
  t.same(await readAllPages(ann, 'view=reported&limit=1'), decided.slice(3));
  const claimed = await ann.post('claims', { count: 3 });
  t.same(
    claimed.body.claims.map(({ note_id }: { note_id: string }) => note_id),
    normal.slice(5, 8),
  );
  t.same(await readAllPages(ann, 'view=mine&limit=2'), normal.slice(5, 8));
  t.same(await readAllPages(lea, 'view=mine'), []);
  const reported = await lea.post('claims', { count: 9, view: 'reported' });
  t.equal(reported.body.claims.length, 2);

  const { next_cursor } = (await ann.get('queue?limit=1')).body;
  t.equal((await ann.get(`queue?view=escalated&cursor=${next_cursor}`)).status, 400);
  t.equal((await ann.get('queue?cursor=no')).body.status, 'invalid_cursor');
  t.equal((await ann.get('queue?view=all')).status, 400);
});

t.test('lists the action that keeps an item first', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  const actions = async () => (await ann.get(`notes/${note.id}`)).body.item.allowed_actions;
  t.same(await actions(), ['approve', 'reject', 'escalate', 'defer']);
  await decide(ann, note.id, 'approve');
  await service.call('POST', `/api/guestbook/${note.id}/report`, { body: { reason: 'spam' } });
  t.same(await actions(), ['keep', 'remove']);
});

t.test('searches the queue by author, text and age', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const old = await submit(service, { name: 'Grace', message: 'Buy 100% off_here' });
  await advanceTime(service, '25 hours');
  const { cookie } = await login(service, member);
  const own = { name: '', attribution: 'member', member_handle: member.handle };
  const memberNote = await submit(service, { ...own, message: 'Grüße'.normalize('NFD') }, cookie);
  const other = await submit(service, { name: 'Eve', message: 'Buy 100 things' });
  const found = async (query: string) => idsOf(await ann.get(`queue?${query}`));
  t.same(await found('author=Grace'), [old.id]);
  t.same(await found(`author=${member.handle}`), [memberNote.id]);
  t.same(await found(`author=${member.id}`), [memberNote.id]);
  t.same(await found('q=buy'), [old.id, other.id]);
  t.same(await found(`q=${encodeURIComponent('0%')}`), [old.id], 'a percent sign is no wildcard');
  t.same(await found('q=off_h'), [old.id]);
  t.same(await found(`q=${encodeURIComponent('GRÜSSE'.replace('SS', 'ß'))}`), [memberNote.id]);
  t.same(
    await found(`q=${encodeURIComponent('grüße'.normalize('NFD'))}`),
    [memberNote.id],
    'matches composed and decomposed letters',
  );
  t.same(
    await found(`q=${encodeURIComponent('０％')}`),
    [old.id],
    'matches wide characters, and no wildcard',
  );
  t.same(await found('older_than=86400'), [old.id]);
  t.same(await found('finding=links'), []);
  t.equal((await ann.get('queue?older_than=soon')).status, 400);
  t.equal((await ann.get('queue?colour=red')).status, 400);
  const [item] = (await ann.get('queue')).body.items;
  t.match(item, { id: old.id, past_due: true });
});

t.test('ends a page of a search after a number of notes and continues on the next', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const { cookie } = await login(service, member);
  const own = { name: '', attribution: 'member', member_handle: member.handle };
  const guestNote = await submit(service, { name: 'Grace', message: 'The first needle' });
  const memberNote = await submit(service, { ...own, message: 'Another needle' }, cookie);
  for (const { id } of [guestNote, memberNote]) await decide(ann, id, 'approve');
  await advanceTime(service, '1 day');
  const others = MAX_SCANNED + 500;
  await service.tamper(insertNotesOfOthers(others));

  const first = (await ann.get('queue?view=decided&q=needle')).body;
  t.same(first.items, [], 'the first page has no match yet');
  t.type(first.next_cursor, 'string');
  const more = `queue?view=decided&q=needle&cursor=${encodeURIComponent(first.next_cursor)}`;
  t.match((await ann.get(more)).body, { items: [{ id: memberNote.id }, { id: guestNote.id }] });
  t.equal((await ann.get(more)).body.next_cursor, null);
  const pins = await readAllPages(ann, 'view=decided&q=pin&limit=3');
  const expectedPins = Math.ceil((others - 6) / 1000);
  t.same(
    [pins.length, new Set(pins).size],
    [expectedPins, expectedPins],
    'each match is listed once',
  );

  // A search by author reads only the author's notes, however long the view is.
  for (const [author, expected] of [
    ['Grace', [guestNote.id]],
    [member.id, [memberNote.id]],
    [member.handle, [memberNote.id]],
    ['Nobody', []],
  ] as const) {
    const { items, next_cursor } = (await ann.get(`queue?view=decided&author=${author}`)).body;
    t.same([items.map(({ id }: { id: string }) => id), next_cursor], [expected, null], author);
  }
  const both = (await ann.get('queue?view=decided&author=Grace&q=other&older_than=60')).body;
  t.same([both.items, both.next_cursor], [[], null]);
  t.same(await readAllPages(ann, 'view=decided&author=Other&q=pin&limit=4'), pins);
});

t.test('finds notes by a rare finding directly, by a common one along the view', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const others = MAX_SCANNED + 500;
  await service.tamper(insertNotesOfOthers(others));
  await service.tamper(`WITH aged AS (
      SELECT note_id, row_number() OVER (ORDER BY settled_at) AS age FROM notes)
    INSERT INTO note_findings (note_id, code)
      SELECT note_id, 'links' FROM aged WHERE age % 4 = 0 UNION ALL
      SELECT note_id, 'email' FROM aged WHERE age <= 3 UNION ALL
      SELECT note_id, 'phone' FROM aged WHERE age <= ${MAX_RARE_MATCHES + 1} UNION ALL
      SELECT note_id, 'markup' FROM aged WHERE age <= ${MAX_RARE_MATCHES}`);
  const { rows } = await service.database.pool.query<{ note_id: string }>(
    'SELECT note_id FROM notes ORDER BY settled_at DESC',
  );
  const notes = rows.map(({ note_id }) => note_id);

  const page = 'queue?view=decided&limit=2&finding=email';
  const first = (await ann.get(page)).body;
  const second = (await ann.get(`${page}&cursor=${encodeURIComponent(first.next_cursor)}`)).body;
  t.same([...idsOf({ body: first }), ...idsOf({ body: second })], notes.slice(-3));
  t.equal(second.next_cursor, null);
  t.match((await ann.get('queue?view=decided&finding=shouting')).body, {
    items: [],
    next_cursor: null,
  });
  t.same(await readAllPages(ann, 'finding=email'), [], 'other views have no match');
  t.same(await readAllPages(ann, 'view=decided&finding=email&q=nothing'), []);
  t.same(await readAllPages(ann, 'view=decided&finding=email&author=Other'), notes.slice(-2, -1));

  const links = notes.filter((_, index) => (notes.length - index) % 4 === 0);
  t.same(await readAllPages(ann, 'view=decided&finding=links&limit=100'), links);
  const { items, next_cursor } = (await ann.get('queue?view=decided&finding=phone')).body;
  t.same([items.length, typeof next_cursor], [1, 'string'], 'one above the limit counts as common');
  const { length } = (await ann.get('queue?view=decided&limit=100&finding=markup')).body.items;
  t.equal(length, 100);
});

async function login(
  service: Awaited<ReturnType<typeof startService>>,
  { id, sign_in_key }: { id: string; sign_in_key: string },
) {
  const body = { id, sign_in_key };
  const answer = await service.call('POST', '/api/membership/login', { body });
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] };
}

t.test('lets a lead claim escalated notes first and gives other roles none', async (t) => {
  const service = await startService(t);
  const tri = await addModerator(service, 'Tri', 'triage');
  const lea = await addModerator(service, 'Lea', 'lead');
  const [one, two] = [await submit(service), await submit(service)];
  const escalate = { action: 'escalate', expected_version: 1, message: 'Hard' };
  await tri.post(`notes/${two.id}/decisions`, escalate);
  const claimed = async (who: Moderator, body: object) =>
    (await who.post('claims', body)).body.claims.map((claim: { note_id: string }) => claim.note_id);
  t.same(await claimed(lea, { count: 1 }), [two.id]);
  t.same(await claimed(tri, { count: 5 }), [one.id]);
  t.same(await claimed(tri, { count: 5, view: 'escalated' }), [], 'the lead holds the note');
});

t.test('those of the given items that are in a view are read alone', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const [a, b, c] = [await submit(service), await submit(service), await submit(service)];
  await decide(ann, b.id, 'approve');
  const only = [c.id, b.id, a.id].join(',');
  t.same(idsOf(await ann.get(`queue?only=${only}`)), [a.id, c.id], 'in the order of the view');
  t.same(idsOf(await ann.get(`queue?only=${only}&view=decided`)), [b.id]);
  t.same(idsOf(await ann.get(`queue?only=${only}&q=nothing`)), []);
  t.same(idsOf(await ann.get(`queue?only=profile/${a.id}`)), [], 'the id of a note is no profile');
  t.same(idsOf(await ann.get(`queue?only=profile/${a.id}&view=reported`)), []);
  for (const wrong of ['', 'x', `${a.id},`, Array(51).fill(a.id).join(',')])
    t.equal((await ann.get(`queue?only=${wrong}`)).status, 400, wrong);
});
