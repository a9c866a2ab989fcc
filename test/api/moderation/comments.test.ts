import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { publishCase, publishProfile } from '../../../harness/records.ts';
import { SERVICE_ACTOR } from '../../../platform/eventstore/event.ts';
import { handle } from '../../../platform/eventstore/handle.ts';
import { eraseCommand } from '../../../services/guestbook/scheduled-commands.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { type Service, startService } from '../../support/service.ts';

const SECRET = 'Looks like the one of last week';

const countTexts = async (service: Service) =>
  (
    await service.database.pool.query(
      `SELECT count(*)::int FROM events WHERE type = 'CommentAdded' AND personal IS NOT NULL`,
    )
  ).rows[0].count;

interface Event {
  type: string;
  text: string | null;
}

const commentsIn = ({ body }: { body: { history?: Event[]; comments?: Event[] } }) =>
  (body.history ?? body.comments ?? [])
    .filter(({ type }) => type === 'CommentAdded')
    .map(({ text }) => text);

t.test('shows comments to moderators only', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const author = await newAgent(service);
  const note = await submit(service, { message: 'Hello' });
  const profile = await publishProfile(author);
  const opened = await publishCase(author);
  const subjects = [
    `note/${note.id}`,
    `profile/${profile.id}`,
    `case/${opened.id}`,
    `member/${author.id}`,
  ];
  for (const subject of subjects) {
    const added = await ann.post(`subjects/${subject}/comments`, { text: SECRET });
    t.equal(added.status, 201, subject);
    t.match(added.body, { status: 'commented', event_id: String });
    t.same(commentsIn(await bob.get(`subjects/${subject}/comments`)), [SECRET], subject);
  }
  const { body } = await bob.get(`notes/${note.id}`);
  t.same(commentsIn({ body }), [SECRET], 'the history has the comment');
  t.match(body.history.at(-1), { actor: { type: 'moderator', name: 'Ann' }, version: 1 });
  t.equal(body.item.version, 1, 'a comment does not change the version');
  t.equal((await decide(bob, note.id, 'approve')).status, 201);
  t.same(commentsIn(await bob.get(`subjects/profile/${profile.id}`)), [SECRET]);

  const audit = await auditor.get('audit');
  t.equal(audit.body.entries.filter(({ type }: Event) => type === 'CommentAdded').length, 4);
  t.notMatch(audit.text, SECRET);
  t.equal((await auditor.post(`subjects/${subjects[0]}/comments`, { text: 'x' })).status, 403);
  const open = await Promise.all([
    author.call('GET', '/api/v1/me/export'),
    author.call('GET', '/api/v1/updates'),
    service.call('GET', '/api/guestbook'),
    service.call('GET', `/api/v1/agents/${author.id}`),
    service.call('GET', '/api/v1/activity'),
  ]);
  for (const { status, text } of open) {
    t.equal(status, 200);
    t.notMatch(text, /last week|CommentAdded|commented/);
  }
  t.equal(
    (await service.call('GET', `/api/moderation/subjects/${subjects[0]}/comments`)).status,
    401,
  );
});

t.test('refuses comments that are empty, too long or on nothing', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann', 'triage');
  const note = await submit(service);
  const path = `subjects/note/${note.id}/comments`;
  for (const text of ['', ' ', 'x'.repeat(1001)])
    t.equal((await ann.post(path, { text })).status, 400);
  for (const type of ['note', 'member', 'profile', 'artifact', 'case', 'case_note']) {
    const nothing = `subjects/${type}/${randomUUID()}/comments`;
    t.equal((await ann.get(nothing)).status, 404, type);
    t.equal((await ann.post(nothing, { text: 'x' })).status, 404, type);
  }
  const both = await Promise.all(['one', 'two'].map((text) => ann.post(path, { text })));
  t.same(
    both.map(({ status }) => status),
    [201, 201],
    'two comments that race both arrive',
  );
  t.same(commentsIn(await ann.get(path)).sort(), ['one', 'two']);
});

t.test('erases comments with the text of their note', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  const path = `subjects/note/${note.id}/comments`;
  await ann.post(path, { text: SECRET });
  const rejection = { action: 'reject', expected_version: 1, policy: 'spam' };
  await ann.post(`notes/${note.id}/decisions`, rejection);
  t.equal(await countTexts(service), 1);
  const { rows } = await service.database.pool.query('SELECT note_id, owner_id FROM notes');
  t.equal(
    await handle(service.core.store, SERVICE_ACTOR, eraseCommand(rows[0], 'retention')),
    true,
  );
  t.equal(await countTexts(service), 0);
  t.same(commentsIn(await ann.get(path)), [null]);
  t.equal((await ann.post(path, { text: 'Too late' })).status, 409);
  t.equal(await countTexts(service), 0);
});

t.test('deletes a comment for its author or a lead, and erases its text', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const lea = await addModerator(service, 'Lea', 'lead');
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const author = await newAgent(service);
  const note = await submit(service);
  const profile = await publishProfile(author);
  for (const subject of [`note/${note.id}`, `profile/${profile.id}`, `member/${author.id}`]) {
    const path = `subjects/${subject}/comments`;
    const add = async (text: string) => (await ann.post(path, { text })).body.event_id;
    const [first, second, kept] = [await add(SECRET), await add(SECRET), await add('Kept')];
    const other = await bob.post(`${path}/${first}/delete`, {});
    t.equal(other.status, 403, 'another moderator may not delete it');
    t.match(other.body.error, { code: 'role_required' });
    t.equal((await auditor.post(`${path}/${first}/delete`, {})).status, 403);
    const deleted = await ann.post(`${path}/${first}/delete`, {});
    t.equal(deleted.status, 200, subject);
    t.match(deleted.body, { status: 'deleted', event_id: String });
    t.equal((await lea.post(`${path}/${second}/delete`, {})).status, 200);
    const again = await ann.post(`${path}/${first}/delete`, {});
    t.equal(again.status, 409);
    t.match(again.body.error, { code: 'state_conflict', reason: 'wrong_state' });
    for (const id of [randomUUID(), deleted.body.event_id])
      t.equal((await lea.post(`${path}/${id}/delete`, {})).status, 404);
    t.equal((await ann.get(path)).body.comments.length, 1);
    t.same(commentsIn(await ann.get(path)), ['Kept']);
    const elsewhere = `subjects/note/${randomUUID()}/comments/${kept}/delete`;
    t.equal((await lea.post(elsewhere, {})).status, 404);
  }
  t.equal(await countTexts(service), 3, 'no deleted text is left in the log');

  const { history } = (await bob.get(`notes/${note.id}`)).body;
  t.same(commentsIn({ body: { history } }), [null, null, 'Kept']);
  const deletions = history.filter(({ type }: Event) => type === 'CommentDeleted');
  t.match(deletions, [{ actor: { name: 'Ann' } }, { actor: { name: 'Lea' } }]);
  t.equal(
    deletions[0].data.of,
    history.find(({ type }: Event) => type === 'CommentAdded').event_id,
  );
  const audit = await auditor.get('audit?limit=100');
  t.equal(audit.body.entries.filter(({ type }: Event) => type === 'CommentDeleted').length, 6);
  t.notMatch(audit.text, SECRET);
});

t.test('repeats the answer to the deletion of a comment', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service);
  const path = `/api/moderation/subjects/note/${id}/comments`;
  const headers = {
    authorization: `Bearer ${ann.token}`,
    'idempotency-key': randomUUID() as string,
  };
  const added = await ann.post(`subjects/note/${id}/comments`, { text: SECRET });
  const erase = () =>
    service.call('POST', `${path}/${added.body.event_id}/delete`, { headers, body: {} });
  const first = await erase();
  const second = await erase();
  t.equal(first.status, 200);
  t.same(second.body, first.body);
  t.equal(second.headers.get('idempotency-replayed'), 'true');
});

t.test("erases comments with the author's account", async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const author = await newAgent(service);
  const profile = await publishProfile(author);
  const subjects = [`member/${author.id}`, `profile/${profile.id}`];
  for (const subject of subjects) await ann.post(`subjects/${subject}/comments`, { text: SECRET });
  t.equal(await countTexts(service), 2);
  const confirmed = { confirm_handle: author.handle, erase_notes: false };
  await author.call('POST', '/api/v1/me/delete', confirmed);
  for (const subject of subjects)
    t.not((await ann.post(`subjects/${subject}/comments`, { text: 'Too late' })).status, 201);
  t.equal(await eraseMembers(service.core, { member_id: author.id }), 1);
  t.equal(await countTexts(service), 0);
});
