import { randomBytes } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { report } from '../../../harness/records.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { closeAppeals } from '../../../workers/guestbook/close-appeals.ts';
import { retention } from '../../../workers/guestbook/erase-old-notes.ts';
import { advanceTime, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';
import { tracesInTables } from '../../support/traces.ts';

/** A public note whose author's account was deleted, and erased. */
async function leftBehind(service: Service, moderator: Moderator) {
  const { id, sign_in_key, handle, call } = await newAgent(service);
  const login = { body: { id, sign_in_key } };
  const cookie = readCookie(await service.call('POST', '/api/membership/login', login));
  const message = `Left ${randomBytes(8).toString('hex')}`;
  const more = { name: '', message, attribution: 'member', member_handle: handle };
  const note = await submit(service, more, cookie);
  const approval = (await decide(moderator, note.id, 'approve')).body.event_id as string;
  const deleted = await call('POST', '/api/v1/me/delete', { confirm_handle: handle });
  if (deleted.status !== 200) throw new Error(deleted.text);
  if ((await eraseMembers(service.core)) !== 1) throw new Error('not erased');
  return { id: note.id, author: id, message, approval };
}

const shown = async (service: Service) =>
  (await service.call('GET', '/api/guestbook')).body.entries.map(({ id }: { id: string }) => id);

t.test("the approval of a former member's note is undone: the note goes for good", async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const [ann, lead] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const reader = await newAgent(service);
  const note = await leftBehind(service, ann);
  await report(reader, { type: 'note', id: note.id });
  t.same(await shown(service), [note.id]);
  const path = `decisions/${note.approval}/undo`;
  t.equal((await ann.post(path, { expected_version: 2 })).status, 409, 'the version is looked at');
  t.ok((await tracesInTables(pool, [note.message])).length > 0);

  const undone = await ann.post(path, { expected_version: 3 });
  t.equal(undone.status, 201, undone.text);
  t.match(undone.body, { status: 'undone', state: 'withdrawn', version: 6 });
  t.same(await shown(service), []);
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
  t.match(again.body.error, { reason: 'wrong_state' }, 'there is no second undo');
});

t.test("a former member's note that is removed can come back, until it is erased", async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const [ann, lead] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const note = await leftBehind(service, ann);
  const remove = (expected_version: number) =>
    ann.post(`notes/${note.id}/decisions`, { action: 'remove', policy: 'spam', expected_version });
  const removal = (await remove(2)).body;
  t.same(await shown(service), []);
  const undo = { expected_version: removal.version };
  t.equal((await ann.post(`decisions/${removal.event_id}/undo`, undo)).status, 201);
  t.same(await shown(service), [note.id]);

  t.equal((await remove(5)).status, 201);
  const restore = { action: 'restore', expected_version: 6 };
  t.equal((await lead.post(`notes/${note.id}/decisions`, restore)).status, 201);
  t.equal((await remove(7)).status, 201);
  await advanceTime(service, '91 days');
  t.equal(await closeAppeals(service.core), 1);
  t.equal(await retention(service.core), 1);
  t.same(await tracesInTables(pool, [note.message]), []);
});
