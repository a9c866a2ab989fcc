import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { createCaseCommands } from '../../../harness/cases.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { publishArtifact, publishCase, publishProfile } from '../../../harness/records.ts';
import { MIGRATIONS } from '../../../platform/postgres/migrate.ts';
import { stripInvisible } from '../../../platform/visible-text.ts';
import { hostileTexts } from '../../support/hostile-texts.ts';
import { type Service, startService } from '../../support/service.ts';
import { furnishSite } from '../../support/site.ts';

interface AtomEntry {
  id: string;
  title: string;
  updated: string;
  published: string;
  author: { name: string };
  link: { '@href': string };
  content: { '#'?: string };
}

const PARSER = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#',
  parseTagValue: false,
  trimValues: false,
});

/** Reads an Atom feed with an XML parser. */
async function readAtom(service: Service, path: string) {
  const answer = await service.call('GET', path);
  t.equal(answer.status, 200, `${path} ${answer.text.slice(0, 200)}`);
  t.equal(answer.headers.get('content-type'), 'application/atom+xml; charset=utf-8');
  t.equal(answer.headers.get('access-control-allow-origin'), '*');
  const again = { 'if-none-match': answer.headers.get('etag') ?? '' };
  t.equal((await service.call('GET', path, { headers: again })).status, 304);
  const { feed } = PARSER.parse(answer.text, true) as {
    feed: { title: string; updated: string; entry?: AtomEntry | AtomEntry[] };
  };
  return { ...feed, entries: [feed.entry ?? []].flat() };
}

async function readJsonFeed(service: Service, path: string) {
  const answer = await service.call('GET', path);
  t.equal(answer.headers.get('content-type'), 'application/feed+json; charset=utf-8');
  return JSON.parse(answer.text);
}

t.test('offers each guestbook, note, member and list as Atom and as JSON Feed', async (t) => {
  const service = await startService(t);
  const { ada, lead, note, packets, caseId, openId } = await furnishSite(service);
  const reply = await submit(service, { name: 'Bo', message: 'A fine one.', parent_id: note.id });
  await decide(lead, reply.id, 'approve');
  const feeds: Record<string, readonly string[]> = {
    '/guestbook/service': [note.id],
    '/guestbook/observatory': [],
    [`/notes/${note.id}`]: [reply.id, note.id],
    [`/members/${ada.handle}`]: [caseId, packets.work, packets.evidence],
    '/cases': [openId, caseId],
    '/packets': [packets.work, packets.evidence, packets.second, packets.first],
  };
  for (const [path, ids] of Object.entries(feeds)) {
    const atom = await readAtom(service, `${path}.atom`);
    const urns = ids.map((id) => `urn:uuid:${id}`);
    t.same(atom.entries.map(({ id }) => id).slice(0, ids.length), urns, path);
    const json = await readJsonFeed(service, `${path}.json`);
    t.equal(json.feed_url, `${service.baseUrl}${path}.json`);
    t.same(
      json.items.map(({ id }: { id: string }) => id),
      atom.entries.map(({ id }) => id),
    );
    for (const { link } of atom.entries) {
      t.ok(link['@href'].startsWith(service.baseUrl));
      const page = await service.call('GET', link['@href'].replace(service.baseUrl, ''));
      t.equal(page.status, 200, link['@href']);
    }
    const { text } = await service.call('GET', json.home_page_url.replace(service.baseUrl, ''));
    t.match(text, `type="application/atom+xml" href="${path}.atom"`);
    t.match(text, `<a href="${path}.json">JSON Feed</a>`);
  }
  const open = await readAtom(service, '/cases.atom?state=open');
  t.equal(open.entries.length, 1);
  t.equal(open.title, 'Open cases');
  const activity = await readAtom(service, '/activity.atom');
  t.match(activity.entries[0]?.title, 'note approved: A fine one.');
});

t.test('compresses feeds', async (t) => {
  const service = await startService(t);
  const { lead } = await furnishSite(service);
  const { id } = await submit(service, { message: 'A long note. '.repeat(30) });
  await decide(lead, id, 'approve');
  const headers = { 'accept-encoding': 'gzip' };
  for (const path of ['/guestbook/service.atom', '/guestbook/service.json', '/activity.atom']) {
    const answer = await service.call('GET', path, { headers });
    t.equal(answer.headers.get('content-encoding'), 'gzip', path);
    t.match(answer.headers.get('vary'), /accept-encoding/i);
  }
});

t.test('drops from a feed what is public no more', async (t) => {
  const service = await startService(t);
  const { ada, packets } = await furnishSite(service);
  await ada.call('POST', `/api/v1/artifacts/${packets.work}/withdraw`, {});
  const { entries } = await readAtom(service, '/packets.atom');
  t.notOk(entries.some(({ id }) => id.includes(packets.work)));
  await ada.call('POST', '/api/v1/me/profile/withdraw', {});
  t.equal((await service.call('GET', `/members/${ada.handle}.atom`)).status, 410);
  t.equal((await service.call('GET', '/guestbook/nowhere.atom')).status, 404);
  t.equal((await service.call('GET', '/notes/nonsense.json')).status, 404);
});

/** Ids of the tombstones of a feed, which are the same in both formats and hold nothing else. */
async function readTombstones(service: Service, path: string): Promise<string[]> {
  const [base, query = ''] = path.split('?');
  const address = (format: string) => `${base}.${format}${query && `?${query}`}`;
  const { text } = await service.call('GET', address('atom'));
  const { feed } = PARSER.parse(text, true);
  const stones = [feed['at:deleted-entry'] ?? []].flat();
  for (const stone of stones) t.same(Object.keys(stone), ['@ref', '@when']);
  const when: string[] = stones.map((stone) => stone['@when']);
  t.same(when, when.toSorted().toReversed(), 'newest first');
  if (when[0]) t.ok(feed.updated >= when[0], 'the feed changed as well');
  const json = await readJsonFeed(service, address('json'));
  t.same(
    json._deleted,
    stones.map((stone) => ({ id: stone['@ref'], date_deleted: stone['@when'] })),
  );
  return stones.map((stone) => stone['@ref'].replace('urn:uuid:', ''));
}

/** Ids of the entries of the public activity about some subjects, newest first. */
async function activityOf(service: Service, ...subjects: string[]): Promise<string[]> {
  const { entries } = (await service.call('GET', '/api/v1/activity?limit=100')).body;
  return entries
    .filter(({ subject }: { subject: { id: string } }) => subjects.includes(subject.id))
    .map(({ id }: { id: string }) => id);
}

/** Removes a note or a record; returns how to undo that. */
async function remove(lead: Moderator, { type, id }: { type: string; id: string }) {
  const path = type === 'note' ? `notes/${id}` : `subjects/${type}/${id}`;
  const { item } = (await lead.get(path)).body;
  const decision = { action: 'remove', expected_version: item.version, policy: 'spam' };
  const { status, text, body } = await lead.post(`${path}/decisions`, decision);
  t.equal(status, 201, text);
  const undo = { expected_version: body.version };
  return async () => {
    const undone = await lead.post(`decisions/${body.event_id}/undo`, undo);
    t.equal(undone.body.status, 'undone', undone.text);
  };
}

const artifact = (id: string) => ({ type: 'artifact', id });

/** When a feed and each of its entries changed, the same in both formats. */
async function readUpdates(service: Service, path: string) {
  const atom = await readAtom(service, `${path}.atom`);
  const { items } = await readJsonFeed(service, `${path}.json`);
  const entries = atom.entries.map(({ id, updated, published }) => ({ id, updated, published }));
  t.same(
    items.map((one: Record<string, string>) => ({
      id: one.id,
      updated: one.date_modified,
      published: one.date_published,
    })),
    entries,
  );
  const find = (id: string) => entries.find((entry) => entry.id === `urn:uuid:${id}`);
  return { updated: atom.updated, find, first: entries[0]?.id };
}

t.test('dates a note by its approval, in every order of approvals', async (t) => {
  const service = await startService(t);
  const { lead } = await furnishSite(service);
  const [early, late] = [await submit(service), await submit(service)];
  await decide(lead, late.id, 'approve');
  const before = await readUpdates(service, '/guestbook/service');
  await decide(lead, early.id, 'approve');
  const after = await readUpdates(service, '/guestbook/service');
  const entry = after.find(early.id);
  t.equal(after.first, `urn:uuid:${early.id}`);
  t.ok(entry && entry.updated > before.updated, 'later than all that a reader has');
  t.equal(after.updated, entry?.updated);
  t.ok(entry && entry.published < (before.find(late.id)?.updated ?? ''), 'written before');
});

t.test('never sets back when a feed changed', async (t) => {
  const service = await startService(t);
  const { lead, ada, packets, caseId, openId, silent } = await furnishSite(service);
  const { id, sign_in_key, handle } = ada;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const signed = { name: '', attribution: 'member', member_handle: handle };
  const note = await submit(service, signed, readCookie(login));
  const feeds = ['/guestbook/service', `/members/${handle}`, '/cases', '/packets', '/activity'];
  const last = new Map<string, string>();
  const look = async (what: string) => {
    for (const feed of feeds) {
      const { updated } = await readUpdates(service, feed);
      t.ok(updated >= (last.get(feed) ?? '2000'), `${feed} after ${what}`);
      last.set(feed, updated);
    }
  };
  await look('the start');
  const decideAgain = async (decision: object) => {
    const { item } = (await lead.get(`notes/${note.id}`)).body;
    const given = { ...decision, expected_version: item.version };
    const { status, text, body } = await lead.post(`notes/${note.id}/decisions`, given);
    t.equal(status, 201, text);
    return () => lead.post(`decisions/${body.event_id}/undo`, { expected_version: body.version });
  };
  const undoApproval = await decideAgain({ action: 'approve' });
  await look('an approval');
  t.equal((await undoApproval()).body.status, 'undone');
  await look('its undo');
  t.same(await readTombstones(service, '/guestbook/service'), [note.id]);
  const undoRejection = await decideAgain({ action: 'reject', policy: 'spam' });
  await look('a rejection');
  t.equal((await undoRejection()).body.status, 'undone');
  await decideAgain({ action: 'approve' });
  await look('another approval');
  for (const subject of [
    { type: 'note', id: note.id },
    { type: 'artifact', id: packets.work },
    { type: 'case', id: caseId },
  ]) {
    const undo = await remove(lead, subject);
    await look(`the removal of the ${subject.type}`);
    const removed = last.get('/activity') ?? '';
    await undo();
    await look(`the undo for the ${subject.type}`);
    const own = await readUpdates(service, `/members/${handle}`);
    t.ok((own.find(subject.id)?.updated ?? '') > removed, 'later than its tombstone');
  }
  await createCaseCommands(silent).withdraw(openId, 1);
  await look('the withdrawal of a case');
});

t.test('finds since when notes of an earlier release are not public', async (t) => {
  const service = await startService(t);
  const { ada, lead } = await furnishSite(service);
  const { id, sign_in_key, handle } = ada;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const cookie = readCookie(login);
  const signed = { name: '', attribution: 'member', member_handle: handle };
  const write = async () => {
    const { id: noteId } = await submit(service, signed, cookie);
    return { type: 'note', id: noteId };
  };
  const approved = async () => {
    const note = await write();
    const { body } = await decide(lead, note.id, 'approve');
    const expected = { expected_version: body.version };
    return { ...note, undo: () => lead.post(`decisions/${body.event_id}/undo`, expected) };
  };
  const withdraw = ({ id: noteId }: { id: string }) =>
    service.call('POST', `/api/guestbook/${noteId}/withdraw`, { cookie, body: {} });
  const [undone, rejected, removed, restored, both, again] = [
    await approved(),
    await write(),
    await approved(),
    await approved(),
    await approved(),
    await approved(),
  ];
  await undone.undo();
  await decide(lead, rejected.id, 'reject');
  await remove(lead, removed);
  await (await remove(lead, restored))();
  await remove(lead, both);
  await (await remove(lead, again))();
  for (const note of [both, again, await approved(), await write()]) await withdraw(note);
  const { pool } = service.database;
  const notes = async () =>
    (await pool.query('SELECT note_id, state, gone_at FROM notes ORDER BY 1')).rows;
  const now = await notes();
  t.equal(now.filter(({ gone_at }) => gone_at).length, 5);
  await pool.query(`ALTER TABLE notes DROP COLUMN gone_at; DROP INDEX notes_public_since,
    notes_restored, record_decisions_reversed, cases_changed`);
  await pool.query(readFileSync(join(MIGRATIONS, '0011-public-again.sql'), 'utf8'));
  t.same(await notes(), now);
});

t.test('dates an empty feed by the beginning of the service', async (t) => {
  const service = await startService(t);
  for (const path of ['/guestbook/observatory', '/cases', '/packets', '/activity']) {
    const { updated } = await readAtom(service, `${path}.atom`);
    t.ok(Date.now() - Date.parse(updated) < 86_400_000, `${path}: ${updated}`);
  }
});

t.test('tells a guest with the name of a member from the member', async (t) => {
  const service = await startService(t);
  const { lead, ada } = await furnishSite(service);
  const { id } = await submit(service, { name: ada.handle, message: 'Not Ada' });
  await decide(lead, id, 'approve');
  const { entries } = await readAtom(service, '/guestbook/service.atom');
  t.equal(entries[0]?.author.name, `${ada.handle} (guest)`);
});

t.test('names in the feeds of a guestbook and a note what was taken down', async (t) => {
  const service = await startService(t);
  const { lead, note } = await furnishSite(service);
  const [reply, other] = [
    await submit(service, { message: 'A fine one.', parent_id: note.id }),
    await submit(service, { message: 'Never public' }),
  ];
  await decide(lead, reply.id, 'approve');
  await decide(lead, other.id, 'reject');
  await remove(lead, { type: 'note', id: reply.id });
  t.same(await readTombstones(service, `/notes/${note.id}`), [reply.id]);
  t.same(await readTombstones(service, '/guestbook/service'), []);
  await remove(lead, { type: 'note', id: note.id });
  t.same(await readTombstones(service, '/guestbook/service'), [note.id]);
  t.equal((await service.call('GET', `/notes/${note.id}.atom`)).status, 410);
});

t.test('names in the feed of packets what was withdrawn or removed', async (t) => {
  const service = await startService(t);
  const { ada, bob, lead, packets } = await furnishSite(service);
  const other = await publishArtifact(bob);
  t.same(await readTombstones(service, '/packets'), []);
  await ada.call('POST', `/api/v1/artifacts/${packets.work}/withdraw`, {});
  const undo = await remove(lead, artifact(packets.first));
  t.same(await readTombstones(service, '/packets'), [packets.first, packets.work]);
  // A page that answers 410 does not say of which kind the packet was.
  t.same(await readTombstones(service, '/packets?kind=brief'), [packets.first, packets.work]);
  t.same(await readTombstones(service, `/members/${bob.handle}`), []);
  await undo();
  t.same(await readTombstones(service, '/packets'), [packets.work]);
  await remove(lead, other);
  const removedFirst = [other.id, packets.work];
  t.same(await readTombstones(service, '/packets'), removedFirst);
  const before = await service.call('GET', '/packets.json');
  await bob.call('POST', `/api/v1/artifacts/${other.id}/withdraw`, {});
  const after = await service.call('GET', '/packets.json');
  t.equal(after.text, before.text, 'an entry that was taken down is not taken down again');
});

t.test('names in the feed of cases what was removed, but not what was withdrawn', async (t) => {
  const service = await startService(t);
  const { ada, silent, lead, caseId, openId } = await furnishSite(service);
  await createCaseCommands(silent).withdraw(openId, 1);
  t.same(await readTombstones(service, '/cases'), [], 'a withdrawn case is public');
  const undo = await remove(lead, { type: 'case', id: caseId });
  t.same(await readTombstones(service, '/cases'), [caseId]);
  t.same(await readTombstones(service, '/cases?state=accepted'), [caseId]);
  t.same(await readTombstones(service, `/members/${ada.handle}`), [caseId]);
  await undo();
  t.same(await readTombstones(service, '/cases'), []);
});

t.test('names in the feed of a member what was taken down of theirs', async (t) => {
  const service = await startService(t);
  const { ada, lead, note, packets, caseId } = await furnishSite(service);
  const { id, sign_in_key, handle } = ada;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const signed = { name: '', attribution: 'member', member_handle: handle };
  const write = (more: object) => submit(service, { ...signed, ...more }, readCookie(login));
  const [one, reply, waiting, refused] = [
    await write({ message: 'One' }),
    await write({ message: 'A reply', parent_id: note.id }),
    await write({ message: 'Waiting' }),
    await write({ message: 'Refused' }),
  ];
  for (const { id } of [one, reply]) await decide(lead, id, 'approve');
  await decide(lead, refused.id, 'reject');
  const feed = `/members/${handle}`;
  t.same(await readTombstones(service, feed), []);
  await remove(lead, { type: 'note', id: one.id });
  await remove(lead, { type: 'case', id: caseId });
  await ada.call('POST', `/api/v1/artifacts/${packets.work}/withdraw`, {});
  const undo = await remove(lead, { type: 'note', id: note.id });
  const gone = [packets.work, caseId, one.id];
  t.same(await readTombstones(service, feed), [reply.id, ...gone], 'a reply goes with its note');
  const before = await service.call('GET', `${feed}.atom`);
  await remove(lead, { type: 'note', id: reply.id });
  t.equal((await service.call('GET', `${feed}.atom`)).text, before.text);
  await undo();
  t.same(await readTombstones(service, feed), [reply.id, ...gone]);
  const { entries } = await readAtom(service, `${feed}.atom`);
  t.notOk(entries.some((entry) => [reply, waiting, refused].some((x) => entry.id.includes(x.id))));
});

t.test('names in the feed of the activity the entries about what was taken down', async (t) => {
  const service = await startService(t);
  const { ada, silent, lead, packets, caseId, openId, note } = await furnishSite(service);
  const reply = await submit(service, { message: 'A fine one.', parent_id: note.id });
  await decide(lead, reply.id, 'approve');
  const undone = await submit(service, { message: 'Approved by mistake' });
  const approval = (await decide(lead, undone.id, 'approve')).body.event_id;
  await lead.post(`decisions/${approval}/undo`, { expected_version: 2 });
  t.same(await readTombstones(service, '/activity'), []);
  const expected: string[] = [];
  const take = async (down: () => Promise<unknown>, ...subjects: string[]) => {
    const entries = await activityOf(service, ...subjects);
    t.ok(entries.length > 0);
    await down();
    const found = await readTombstones(service, '/activity');
    t.same(found.slice(0, entries.length).toSorted(), entries.toSorted());
    t.same(found.slice(entries.length), expected);
    t.same(await activityOf(service, ...subjects), []);
    expected.unshift(...found.slice(0, entries.length));
  };
  const withdrawPacket = () => ada.call('POST', `/api/v1/artifacts/${packets.work}/withdraw`, {});
  await take(withdrawPacket, packets.work);
  await take(() => remove(lead, artifact(packets.first)), packets.first);
  await take(() => createCaseCommands(silent).withdraw(openId, 1), openId);
  t.equal((await activityOf(service, caseId)).length, 3, 'opened, claimed and submitted');
  await take(() => remove(lead, { type: 'case', id: caseId }), caseId);
  await take(() => ada.call('POST', '/api/v1/me/profile/withdraw', {}), ada.id);
  await take(() => remove(lead, { type: 'note', id: note.id }), note.id, reply.id);
  await remove(lead, { type: 'note', id: reply.id });
  await remove(lead, { type: 'case', id: openId });
  t.same(await readTombstones(service, '/activity'), expected, 'gone already');
  await publishProfile(ada);
  const [entry] = await activityOf(service, ada.id);
  const left = await readTombstones(service, '/activity');
  t.equal(left.length, expected.length - 1);
  t.notOk(left.includes(entry ?? ''));
});

t.test('names no reply that an appeal approved under a note that was gone', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const { ada, lead, note } = await furnishSite(service);
  const { id, sign_in_key, handle } = ada;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const cookie = readCookie(login);
  const signed = { name: '', attribution: 'member', member_handle: handle };
  const reply = await submit(service, { ...signed, parent_id: note.id }, cookie);
  await decide(lead, reply.id, 'reject');
  await remove(lead, { type: 'note', id: note.id });
  const [removal] = await readTombstones(service, '/activity');
  const appeal = { cookie, body: { text: 'Why?' } };
  await service.call('POST', `/api/guestbook/${reply.id}/appeal`, appeal);
  const second = await addModerator(service, 'Lou', 'lead');
  const granted = { action: 'grant', expected_version: 3 };
  const answer = await second.post(`notes/${reply.id}/decisions`, granted);
  t.equal(answer.body.state, 'approved', answer.text);
  t.same(await readTombstones(service, '/activity'), [removal]);
  t.same(await readTombstones(service, `/members/${handle}`), []);
  await remove(lead, { type: 'note', id: reply.id });
  t.same(await readTombstones(service, '/activity'), [removal]);
  t.same(await readTombstones(service, `/members/${handle}`), []);
});

t.test('names in all feeds what ended with its author, once', async (t) => {
  const service = await startService(t);
  const [leaver, lead] = [await newAgent(service), await addModerator(service, 'Lia', 'lead')];
  await publishProfile(leaver);
  const [packet, removed] = [await publishArtifact(leaver), await publishArtifact(leaver)];
  const [open, removedCase] = [await publishCase(leaver), await publishCase(leaver)];
  const entries = await activityOf(service, leaver.id, packet.id, open.id);
  const earlier = await activityOf(service, removed.id, removedCase.id);
  await remove(lead, removed);
  await remove(lead, removedCase);
  const deletion = { confirm_handle: leaver.handle };
  t.equal((await leaver.call('POST', '/api/v1/me/delete', deletion)).status, 200);
  t.same(await readTombstones(service, '/packets'), [packet.id, removed.id]);
  t.same(await readTombstones(service, '/cases'), [open.id, removedCase.id]);
  const tombstones = await readTombstones(service, '/activity');
  t.same(tombstones.slice(0, 3).toSorted(), entries.toSorted());
  t.same(tombstones.slice(3).toSorted(), earlier.toSorted());
  t.equal((await service.call('GET', `/members/${leaver.handle}.atom`)).status, 410);
});

t.test('names the language of a text where its script proves it', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'ann', 'lead');
  const note = async (name: string, message: string) => {
    const { id } = await submit(service, { name, message });
    await decide(lead, id, 'approve');
  };
  await note('Sam', 'Hello');
  await note('さくら', '東京に住んでいます');
  const { text } = await service.call('GET', '/guestbook/service.atom');
  t.match(text, '<title xml:lang="ja">東京に住んでいます</title>');
  t.match(text, '<content type="text" xml:lang="ja">東京に住んでいます</content>');
  t.match(text, '<title>Hello</title>');
  const { items } = await readJsonFeed(service, '/guestbook/service.json');
  t.same(
    items.map(({ language }: { language?: string }) => language),
    ['ja', undefined],
  );
});

t.test('holds hostile texts as text', async (t) => {
  const service = await startService(t);
  const { lead } = await furnishSite(service);
  const texts = [...hostileTexts(500).slice(0, 29), '\uffff and \ufffe'];
  for (const message of texts) {
    const { id } = await submit(service, { name: message.slice(0, 20), message });
    await decide(lead, id, 'approve');
  }
  const plain = (text: string) => text.replaceAll(/[\ufffe\uffff\ufffd]|\s/g, '');
  const { entries } = await readAtom(service, '/guestbook/service.atom');
  t.same(
    entries.map(({ content }) => plain(content['#'] ?? '')),
    texts.toReversed().map(stripInvisible).map(plain),
  );
  const { items } = await readJsonFeed(service, '/guestbook/service.json');
  t.same(
    items.map(({ content_text }: { content_text: string }) => content_text),
    texts.toReversed().map(stripInvisible),
  );
});
