import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, type Moderator, submit, submitAs } from '../../../harness/moderation.ts';
import { publishArtifact } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime, notifyAuthors, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

// Every service checks at its end that a rebuild of the read models gives the same rows.

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
const WINDOW = '601 seconds';

const addTeam = async (service: Service) => ({
  rob: await addModerator(service, 'Rob', 'lead'),
  ann: await addModerator(service, 'Ann'),
  lea: await addModerator(service, 'Lea', 'lead'),
  lou: await addModerator(service, 'Lou', 'lead'),
});

const rewind = (by: Moderator, of: { id: string }, more: object = {}) =>
  by.post(`moderators/${of.id}/rewind`, { since: hoursAgo(1), dry_run: false, ...more });

const preview = async (by: Moderator, of: { id: string }, more: object = {}) =>
  (await rewind(by, of, { dry_run: true, ...more })).body;

const itemOf = async (by: Moderator, id: string) => (await by.get(`notes/${id}`)).body.item;

const act = async (by: Moderator, id: string, action: string, more: object = {}) => {
  const { version: expected_version } = await itemOf(by, id);
  const policy = action === 'reject' || action === 'remove' ? { policy: 'spam' } : {};
  const body = { action, expected_version, ...policy, ...more };
  const decided = await by.post(`notes/${id}/decisions`, body);
  if (decided.status !== 201) throw new Error(decided.text);
  return decided.body.event_id as string;
};

/** A new note on which a moderator has made these decisions. */
async function decided(service: Service, by: Moderator, ...actions: string[]) {
  const { id } = await submit(service);
  for (const action of actions)
    await act(by, id, action, action === 'escalate' ? { message: 'Unsure' } : {});
  return id;
}

const reasons = (left: { subject: { id: string }; action: string; reason: string }[]) =>
  left.map(({ action, reason }) => `${action}: ${reason}`).sort();

const lastPosition = async ({ database }: Service) =>
  (await database.pool.query('SELECT max(position) AS last FROM events')).rows[0].last;

const isPublic = async (service: Service, id: string) =>
  (await service.call('GET', '/api/guestbook')).body.entries.some(
    (entry: { id: string }) => entry.id === id,
  );

t.test(
  'undoes what a moderator decided, as the preview said, and no author hears of it',
  async (t) => {
    const service = await startService(t);
    const { rob, ann, lea } = await addTeam(service);
    const author = await signedIn(service);
    const approved = (await submitAs(service, author)).id;
    const rejected = (await submitAs(service, author)).id;
    const reported = await decided(service, ann, 'approve');
    await service.call('POST', `/api/guestbook/${reported}/report`, { body: { reason: 'spam' } });
    await act(rob, approved, 'defer');
    await act(rob, approved, 'approve');
    await act(rob, rejected, 'reject');
    await act(rob, reported, 'keep');
    const escalated = await decided(service, rob, 'escalate');

    const before = await readFeed(service, author.id);
    const position = await lastPosition(service);
    const previewed = await preview(lea, rob);
    t.equal(await lastPosition(service), position, 'a preview writes nothing');
    t.same(
      previewed.undo.map(({ subject, action }: { subject: object; action: string }) => [
        subject,
        action,
      ]),
      [
        [{ type: 'note', id: escalated }, 'escalate'],
        [{ type: 'note', id: reported }, 'keep'],
        [{ type: 'note', id: rejected }, 'reject'],
        [{ type: 'note', id: approved }, 'approve'],
        [{ type: 'note', id: approved }, 'defer'],
      ],
    );
    t.same(previewed.left, []);
    const done = (await rewind(lea, rob, { fingerprint: previewed.fingerprint })).body;
    t.match(done, { status: 'undone', undone: previewed.undo, left: [], next_cursor: null });

    for (const id of [approved, rejected, escalated])
      t.match(await itemOf(lea, id), { state: 'pending', tier: 'normal', deferred_until: null });
    t.match(await itemOf(lea, reported), { state: 'approved', reports: [{ state: 'open' }] });
    const { entries } = (await lea.get('audit?order=newest&moderator=Lea')).body;
    t.equal(entries.length, 5);
    for (const entry of entries)
      t.match(entry, {
        type: 'DecisionUndone',
        actor: { name: 'Lea' },
        data: { batch_id: done.batch_id },
      });
    await advanceTime(service, WINDOW);
    t.equal(await notifyAuthors(service), 0);
    t.same(await readFeed(service, author.id), before);
    t.match(await preview(lea, rob), { undo: [], left: { length: 5 } }, 'all of them are undone');
  },
);

t.test('only another lead rewinds a moderator, and only that moderator’s decisions', async (t) => {
  const service = await startService(t);
  const { rob, ann, lea } = await addTeam(service);
  const mine = await decided(service, lea, 'approve');
  const other = await decided(service, ann, 'approve');
  t.equal((await rewind(ann, rob)).status, 403);
  t.match(await rewind(lea, lea), {
    status: 409,
    body: { error: { reason: 'second_person_required' } },
  });
  t.equal((await rewind(lea, { id: randomUUID() })).status, 404);
  t.match((await rewind(lea, rob)).body, { undone: [], left: [] });
  t.match((await rewind(rob, lea)).body.undone, [{ subject: { id: mine } }]);
  t.equal((await itemOf(lea, other)).state, 'approved');
});

t.test('begins at a time of the last 31 days, which has a zone', async (t) => {
  const service = await startService(t);
  const { rob, lea } = await addTeam(service);
  const old = await decided(service, rob, 'approve');
  await advanceTime(service, '2 days');
  const recent = await decided(service, rob, 'approve');
  const since = hoursAgo(1);
  for (const wrong of [since.replace('Z', ''), hoursAgo(-1), hoursAgo(24 * 31 + 1), 'yesterday'])
    t.equal((await rewind(lea, rob, { since: wrong })).status, 400, wrong);
  t.match(await preview(lea, rob, { since: since.replace('Z', '+00:00') }), {
    undo: [{ subject: { id: recent } }],
    left: [],
  });
  t.match((await preview(lea, rob, { since: hoursAgo(24 * 31 - 1) })).undo, [
    { subject: { id: recent } },
    { subject: { id: old } },
  ]);
});

t.test('is refused if anything changed since the preview whose fingerprint it sends', async (t) => {
  const service = await startService(t);
  const { rob, ann, lea } = await addTeam(service);
  const [one, two] = [
    await decided(service, rob, 'approve'),
    await decided(service, rob, 'reject'),
  ];
  const refuses = async (fingerprint: string, what: string) => {
    const position = await lastPosition(service);
    const refused = await rewind(lea, rob, { fingerprint, since });
    t.match(refused, { status: 409, body: { error: { reason: 'version_mismatch' } } }, what);
    t.equal(await lastPosition(service), position, 'and nothing is written');
  };
  const since = hoursAgo(1);
  const read = async () => (await preview(lea, rob, { since })).fingerprint;
  const first = await read();
  await decided(service, rob, 'escalate');
  await refuses(first, 'a new decision');
  const second = await read();
  await act(ann, one, 'remove');
  await refuses(second, 'a later decision of another moderator');
  const third = await read();
  t.equal((await rewind(lea, rob, { fingerprint: third, since })).status, 200);
  t.equal((await itemOf(lea, two)).state, 'pending');
});

t.test('makes nothing public: another lead decides on what was removed', async (t) => {
  const service = await startService(t);
  const { rob, ann, lea, lou } = await addTeam(service);
  const author = await newAgent(service, ['artifact:publish', 'updates:read']);
  const packet = await publishArtifact(author);
  const note = await decided(service, ann, 'approve');
  await act(rob, note, 'remove');
  const removal = { action: 'remove', policy: 'spam', expected_version: 1 };
  t.equal((await rob.post(`subjects/artifact/${packet.id}/decisions`, removal)).status, 201);
  const done = (await rewind(lea, rob)).body;
  t.same(done.undone, []);
  matchAll(t, done.left, [
    { subject: { type: 'artifact', id: packet.id }, reason: 'second_person_required' },
    { subject: { type: 'note', id: note }, reason: 'second_person_required' },
  ]);
  t.equal(await isPublic(service, note), false);
  t.equal((await service.call('GET', packet.path)).status, 410);
  await act(lou, note, 'restore');
  t.equal(await isPublic(service, note), true);
});

t.test('leaves what has moved on, and says why', async (t) => {
  const service = await startService(t);
  const { rob, ann, lea } = await addTeam(service);
  const [author, leaver] = [await signedIn(service), await signedIn(service)];
  const undone = await decided(service, rob);
  const { version: expected_version } = await itemOf(rob, undone);
  await rob.post(`decisions/${await act(rob, undone, 'approve')}/undo`, {
    expected_version: expected_version + 1,
  });
  await act(ann, await decided(service, rob, 'approve'), 'remove');
  const [open, upheld] = [await submitAs(service, author), await submitAs(service, author)];
  for (const { id } of [open, upheld]) await act(rob, id, 'reject');
  const gone = await submitAs(service, leaver);
  await act(rob, gone.id, 'reject');
  const erased = await decided(service, rob, 'reject');
  await service.database.pool.query('UPDATE notes SET message = NULL WHERE note_id = $1', [erased]);
  await service.database.pool.query(
    `UPDATE members SET state = 'deactivated' WHERE member_id = $1`,
    [leaver.id],
  );
  const position = await lastPosition(service);
  t.same(reasons((await preview(lea, rob)).left), [
    'approve: superseded',
    'approve: undone',
    'reject: author_gone',
    'reject: erased',
  ]);
  t.equal(await lastPosition(service), position);
  await advanceTime(service, WINDOW);
  await notifyAuthors(service);
  for (const { id } of [open, upheld])
    await service.call('POST', `/api/guestbook/${id}/appeal`, {
      body: { text: 'Why?' },
      cookie: author.cookie,
    });
  await act(ann, upheld.id, 'uphold');
  const { id: other } = await signedIn(service);
  await rob.post(`members/${other}/disable`, { policy: 'spam', until: null });
  const done = (await rewind(lea, rob)).body;
  t.same(reasons(done.left), [
    'approve: superseded',
    'approve: undone',
    'disable: not_included',
    'reject: appealed',
    'reject: appealed',
  ]);
});

t.test('ignores claims, and answers a repeated request alike', async (t) => {
  const service = await startService(t);
  const { rob, lea, lou } = await addTeam(service);
  const id = await decided(service, rob, 'approve');
  t.equal((await lou.post('claims', { note_ids: [id] })).status, 200);
  const headers = { authorization: `Bearer ${lea.token}`, 'idempotency-key': randomUUID() };
  const body = { since: hoursAgo(1), dry_run: false };
  const send = () =>
    service.call('POST', `/api/moderation/moderators/${rob.id}/rewind`, { headers, body });
  const first = await send();
  t.match(first.body.undone, [{ subject: { id } }]);
  const position = await lastPosition(service);
  const again = await send();
  t.same(again.body, first.body);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(await lastPosition(service), position);
});

t.test('takes at most 100 decisions in a request, and goes on in the same batch', async (t) => {
  const service = await startService(t);
  const { rob, lea } = await addTeam(service);
  const ids: string[] = [];
  for (let made = 0; made < 120; made++) ids.push((await submit(service)).id);
  for (let from = 0; from < ids.length; from += 100) {
    const items = ids.slice(from, from + 100).map((note_id) => ({ note_id, expected_version: 1 }));
    await rob.post('decisions/batch', { action: 'approve', items });
  }
  const since = hoursAgo(1);
  const one = await preview(lea, rob, { since });
  t.equal(one.undo.length, 100);
  const two = await preview(lea, rob, { since, cursor: one.next_cursor });
  t.match(two, { undo: { length: 20 }, left: [], next_cursor: null, has_more: false });

  const first = (await rewind(lea, rob, { since, fingerprint: one.fingerprint })).body;
  t.same(first.undone, one.undo);
  const cursor = first.next_cursor;
  const last = (await rewind(lea, rob, { since, cursor, fingerprint: two.fingerprint })).body;
  t.match(last, { batch_id: first.batch_id, undone: two.undo, next_cursor: null });
  t.equal((await rewind(lea, rob, { since, cursor: 'x' })).body.error.code, 'invalid_cursor');

  const undo = (more: object) => lea.post(`batches/${first.batch_id}/undo`, more);
  const half = (await undo({})).body;
  t.equal(half.results.length, 100);
  t.equal((await undo({ cursor: half.next_cursor })).body.results.length, 20);
});
