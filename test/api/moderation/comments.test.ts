import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { publishCase, publishProfile } from '../../../harness/records.ts';
import { eraseCommand } from '../../../services/guestbook/erase-notes.ts';
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
  t.equal(await service.core.store.execute(eraseCommand(rows[0], 'retention')), true);
  t.equal(await countTexts(service), 0);
  t.same(commentsIn(await ann.get(path)), [null]);
  t.equal((await ann.post(path, { text: 'Too late' })).status, 409);
  t.equal(await countTexts(service), 0);
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
