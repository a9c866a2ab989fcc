import { randomBytes } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { report } from '../../../harness/records.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { closeAppeals } from '../../../workers/guestbook/close-appeals.ts';
import { eraseOldNotes } from '../../../workers/guestbook/erase-old-notes.ts';
import { advanceTime, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';
import { tracesInTables } from '../../support/traces.ts';

/** Creates a public note whose author has deleted the account and was erased. */
async function createFormerMembersNote(service: Service, moderator: Moderator) {
  const { id, sign_in_key, handle, call } = await newAgent(service);
  const login = { body: { id, sign_in_key } };
  const cookie = readCookie(await service.call('POST', '/api/membership/login', login));
  const message = `Left ${randomBytes(8).toString('hex')}`;
  const more = { name: '', message, attribution: 'member', member_handle: handle };
  const note = await submit(service, more, cookie);
  const approval = (await decide(moderator, note.id, 'approve')).body.event_id as string;
  const deleted = await call('POST', '/api/v1/me/delete', { confirm_handle: handle });
  if (deleted.status !== 200) throw new Error(deleted.text);
  if ((await eraseMembers(service.core)) !== 1) throw new Error('the member was not erased');
  return { id: note.id, author: id, message, approval };
}

const listedNotes = async (service: Service) =>
  (await service.call('GET', '/api/guestbook')).body.entries.map(({ id }: { id: string }) => id);

t.test("withdraws a former member's note for good when its approval is undone", async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const [ann, lead] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const reader = await newAgent(service);
  const note = await createFormerMembersNote(service, ann);
  await report(reader, { type: 'note', id: note.id });
  t.same(await listedNotes(service), [note.id]);
  const path = `decisions/${note.approval}/undo`;
  t.equal((await ann.post(path, { expected_version: 1 })).status, 409, 'the version is checked');
  t.ok((await tracesInTables(pool, [note.message])).length > 0);

  // The report came after the approval, but is no decision.
  const undone = await ann.post(path, { expected_version: 2 });
  t.equal(undone.status, 201, undone.text);
  t.match(undone.body, { status: 'undone', state: 'withdrawn', version: 6 });
  t.same(await listedNotes(service), []);
  t.same(await tracesInTables(pool, [note.message]), []);
  for (const view of ['todo', 'reported', 'decided'])
    t.same((await lead.get(`queue?view=${view}`)).body.items, [], view);
  const { item } = (await lead.get(`notes/${note.id}`)).body;
  t.match(item, { state: 'withdrawn', erased: true, text: '', allowed_actions: [] });
  t.match((await readFeed(service, reader.id)).at(-1), {
    type: 'report.resolved',
    data: { outcome: 'withdrawn', subject: { type: 'note', id: note.id } },
    actor: { type: 'service' },
  });
  t.match((await readFeed(service, note.author)).at(-1), {
    type: 'note.withdrawn',
    actor: { type: 'moderator' },
  });
  t.notMatch(JSON.stringify(await readFeed(service, note.author)), ann.id);
  const again = await lead.post(path, { expected_version: 6 });
  t.match(again.body.error, { reason: 'wrong_state' }, 'a second undo is refused');
});

t.test("restores a former member's removed note until it is erased", async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const [ann, lead] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const note = await createFormerMembersNote(service, ann);
  const remove = (expected_version: number) =>
    ann.post(`notes/${note.id}/decisions`, { action: 'remove', policy: 'spam', expected_version });
  const removal = (await remove(2)).body;
  t.same(await listedNotes(service), []);
  const undo = { expected_version: removal.version };
  t.equal((await ann.post(`decisions/${removal.event_id}/undo`, undo)).status, 201);
  t.same(await listedNotes(service), [note.id]);

  t.equal((await remove(5)).status, 201);
  const restore = { action: 'restore', expected_version: 6 };
  t.equal((await lead.post(`notes/${note.id}/decisions`, restore)).status, 201);
  t.equal((await remove(7)).status, 201);
  await advanceTime(service, '91 days');
  t.equal(await closeAppeals(service.core), 1);
  t.equal(await eraseOldNotes(service.core), 1);
  t.same(await tracesInTables(pool, [note.message]), []);
});
