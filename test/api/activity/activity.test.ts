import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { assertRebuilt } from '../../../harness/rebuilt.ts';
import { publishArtifact, publishCase, publishProfile } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { appendTo } from '../../support/append.ts';
import { matchAll } from '../../support/match-all.ts';
import { type Service, startService } from '../../support/service.ts';

const readActivity = async (service: Service, query = '') => {
  const { status, body } = await service.call('GET', `/api/v1/activity${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};
const readTitles = async (service: Service, query = '') =>
  (await readActivity(service, query)).entries.map((one: { type: string; title: string }) => [
    one.type,
    one.title,
  ]);

t.test('lists public changes of cases, newest first, by type and cursor', async (t) => {
  const service = await startService(t);
  const [author, ann] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const id = await createOpenCase(author, { title: 'One' });
  await ann.claim(id, 1);
  await ann.claim(id, 2);
  await ann.submit(id, 3);
  await ann.note(id);
  await author.review(id, 4, 'accept');
  const other = await createOpenCase(ann, { title: 'Two' });
  t.same(await readTitles(service), [
    ['case.opened', 'Two'],
    ['case.accepted', 'One'],
    ['case.submitted', 'One'],
    ['case.claimed', 'One'],
    ['case.opened', 'One'],
  ]);
  const page = await readActivity(service, '?limit=2');
  t.match(page.entries[1], {
    id: /^[0-9a-f-]{36}$/,
    occurred_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    actor: { type: 'member', id: author.agent.id },
    subject: { type: 'case', id },
  });
  t.same(await readTitles(service, `?limit=2&cursor=${page.next_cursor}`), [
    ['case.submitted', 'One'],
    ['case.claimed', 'One'],
  ]);
  t.equal((await readActivity(service, '?limit=5')).next_cursor, null);
  t.same(await readTitles(service, '?type=case.opened'), [
    ['case.opened', 'Two'],
    ['case.opened', 'One'],
  ]);
  await ann.withdraw(other, 1);
  t.same(await readTitles(service, '?type=case.opened'), [['case.opened', 'One']]);
  const get = (query: string) => service.call('GET', `/api/v1/activity${query}`);
  t.equal((await get('?type=case.noted')).status, 400);
  t.equal((await get('?cursor=x')).body.error.code, 'invalid_cursor');
  t.equal((await get('?who=me')).body.error.code, 'query_not_allowed');
  const etag = (await get('')).headers.get('etag') ?? '';
  const cached = await service.call('GET', '/api/v1/activity', {
    headers: { 'if-none-match': etag },
  });
  t.equal(cached.status, 304);
});

t.test("lists a note while it is public, without the moderator's name", async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service, { message: ` \n${'😀'.repeat(90)}` });
  const approve = (expected_version: number) =>
    ann.post(`notes/${id}/decisions`, { action: 'approve', expected_version });
  const first = await approve(1);
  matchAll(t, (await readActivity(service)).entries, [
    { type: 'note.approved', subject: { type: 'note', id }, title: '😀'.repeat(80) },
  ]);
  t.same((await readActivity(service)).entries[0].actor, { type: 'moderator' });
  await ann.post(`decisions/${first.body.event_id}/undo`, { expected_version: 2 });
  t.same(await readTitles(service), []);
  await approve(3);
  t.equal((await readTitles(service)).length, 1, 'a note approved twice is listed once');
  const reply = await submit(service, { parent_id: id, message: 'A reply' });
  await decide(ann, reply.id, 'approve');
  t.equal((await readTitles(service)).length, 2);
  const remove = { action: 'remove', policy: 'spam', expected_version: 4 };
  t.equal((await ann.post(`notes/${id}/decisions`, remove)).status, 201);
  t.same(await readTitles(service), [], 'the removal of a note hides its reply');
});

t.test('lists a note from the moment that an appeal makes it public', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const { handle, cookie } = await signedIn(service);
  const member = { name: '', attribution: 'member', member_handle: handle };
  const note = await submit(service, { ...member, message: 'Heard' }, cookie);
  const path = `notes/${note.id}/decisions`;
  const appealed = async () => {
    const body = { text: 'Please' };
    const answer = await service.call('POST', `/api/guestbook/${note.id}/appeal`, {
      body,
      cookie,
    });
    t.equal(answer.status, 202, answer.text);
  };
  await decide(ann, note.id, 'reject');
  await appealed();
  t.same(await readTitles(service), []);
  const granted = await bob.post(path, { action: 'grant', expected_version: 3 });
  t.equal(granted.status, 201, granted.text);
  const [entry, ...others] = (await readActivity(service)).entries;
  t.match(entry, { id: granted.body.event_id, type: 'note.approved', title: 'Heard' });
  t.strictSame(entry.actor, { type: 'moderator' });
  t.same(others, []);

  await ann.post(path, { action: 'remove', policy: 'spam', expected_version: 4 });
  await appealed();
  t.same(await readTitles(service), []);
  const again = await bob.post(path, { action: 'grant', expected_version: 6 });
  t.equal(again.status, 201, again.text);
  t.same((await readActivity(service)).entries, [entry], 'listed once, at its old place');
});

t.test('hides a removed case everywhere and shows it after its restoration', async (t) => {
  const service = await startService(t);
  const [author, ann] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const id = await createOpenCase(author);
  await ann.note(id, 'Kept');
  await ann.note(id, 'Taken down');
  const of = randomUUID();
  const members = [author.agent.id, ann.agent.id];
  const removal = { case_id: id, policy: 'spam', claimed_at: null };
  const append = appendTo(service, members);

  await append(author.agent.id, `case-${id}`, 'CaseRemoved', removal, { message: null });
  t.same(await readTitles(service), []);
  const read = await service.call('GET', `/api/v1/cases/${id}`);
  t.equal(read.status, 410);
  t.equal(read.body.error.code, 'gone');
  t.same((await service.call('GET', '/api/v1/cases')).body.cases, []);
  t.equal((await ann.claim(id, 2)).status, 410);
  t.equal((await ann.note(id)).status, 410);
  await append(author.agent.id, `case-${id}`, 'CaseRemovalTold', {
    case_id: id,
    of,
    policy: 'spam',
    members,
  });
  const restored = { case_id: id, of, undone: false, told: true, members };
  await append(author.agent.id, `case-${id}`, 'CaseRestored', restored);
  t.equal((await readTitles(service)).length, 1);
  t.match((await service.call('GET', `/api/v1/cases/${id}`)).body.case, { version: 3 });

  const { rows } = await service.database.pool.query(
    `SELECT note_id FROM case_notes WHERE message = 'Taken down'`,
  );
  const note = { ...removal, note_id: rows[0].note_id };
  await append(ann.agent.id, `case-note-${rows[0].note_id}`, 'CaseNoteRemoved', note, {
    message: 'No',
  });
  const notes = async () => (await service.call('GET', `/api/v1/cases/${id}`)).body.notes;
  t.match(await notes(), [{ message: 'Kept' }]);
  t.equal((await notes()).length, 1);
  const back = { case_id: id, note_id: rows[0].note_id, of, undone: true, told: false };
  await append(ann.agent.id, `case-note-${rows[0].note_id}`, 'CaseNoteRestored', back);
  t.match(await notes(), [{ message: 'Taken down' }, { message: 'Kept' }]);
  const feed = await service.database.pool.query(
    `SELECT member_id, type, data FROM feed WHERE subject_id = $1
      AND (type = 'case.removed' OR data ? 'restored') ORDER BY sequence`,
    [id],
  );
  matchAll(t, feed.rows.map(({ type }) => type).sort(), [
    'case.opened',
    'case.opened',
    'case.removed',
    'case.removed',
  ]);
});

t.test('lists a profile once, as it is published now', async (t) => {
  const service = await startService(t);
  const mod = await addModerator(service, 'Mod');
  const agent = await newAgent(service);
  const listTitles = async () =>
    (await readActivity(service)).entries.map((one: { title: string }) => one.title);
  for (const name of ['One', 'Two']) await publishProfile(agent, name);
  t.same(await listTitles(), ['Two']);
  await agent.call('POST', '/api/v1/me/profile/withdraw', {});
  t.same(await listTitles(), []);
  await publishProfile(agent, 'Three');
  t.same(await listTitles(), ['Three'], 'the withdrawn versions stay hidden');
  const removed = await mod.post(`subjects/profile/${agent.id}/decisions`, {
    action: 'remove',
    policy: 'spam',
    expected_version: 4,
  });
  t.equal(removed.status, 201, removed.text);
  t.same(await listTitles(), []);
  const undone = { expected_version: removed.body.version };
  await mod.post(`decisions/${removed.body.event_id}/undo`, undone);
  t.same(await listTitles(), ['Three']);
});

t.test('walks past no entry of a removed subject, and lists it again after the undo', async (t) => {
  const service = await startService(t);
  const mod = await addModerator(service, 'Mod');
  const agent = await newAgent(service);
  const note = await submit(service);
  await decide(mod, note.id, 'approve');
  const records = [
    { at: `notes/${note.id}`, version: 2 },
    { at: `subjects/profile/${(await publishProfile(agent)).id}`, version: 1 },
    { at: `subjects/artifact/${(await publishArtifact(agent)).id}`, version: 1 },
    { at: `subjects/case/${(await publishCase(agent)).id}`, version: 1 },
  ];
  const countIndexed = async () => {
    const { rows } = await service.database.pool.query(
      'SELECT count(*)::int AS count FROM activity WHERE NOT hidden AND NOT taken_down',
    );
    return rows[0].count;
  };
  t.equal(await countIndexed(), records.length);
  const removals = [];
  for (const { at, version } of records) {
    const remove = { action: 'remove', policy: 'spam', expected_version: version };
    const removed = await mod.post(`${at}/decisions`, remove);
    t.equal(removed.status, 201, removed.text);
    removals.push(removed.body);
  }
  t.equal(await countIndexed(), 0);
  t.same(await readTitles(service), []);
  await assertRebuilt(service.database.pool);
  for (const { event_id, version } of removals) {
    const undone = await mod.post(`decisions/${event_id}/undo`, { expected_version: version });
    t.equal(undone.status, 201, undone.text);
  }
  t.equal(await countIndexed(), records.length);
  t.equal((await readTitles(service)).length, records.length);
  await assertRebuilt(service.database.pool);
});
