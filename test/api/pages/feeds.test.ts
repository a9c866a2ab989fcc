import { XMLParser } from 'fast-xml-parser';
import t from 'tap';
import { decide, submit } from '../../../harness/moderation.ts';
import { hostileTexts } from '../../support/hostile-texts.ts';
import { type Service, startService } from '../../support/service.ts';
import { furnishSite } from '../../support/site.ts';

interface AtomEntry {
  id: string;
  title: string;
  updated: string;
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

t.test('tells followers of a guestbook and a note what was taken down', async (t) => {
  const service = await startService(t);
  const { lead, note } = await furnishSite(service);
  const [reply, other] = [
    await submit(service, { message: 'A fine one.', parent_id: note.id }),
    await submit(service, { message: 'Never public' }),
  ];
  await decide(lead, reply.id, 'approve');
  await decide(lead, other.id, 'reject');
  const takeDown = async (id: string) => {
    const decision = { action: 'remove', expected_version: 2, policy: 'spam' };
    t.equal((await lead.post(`notes/${id}/decisions`, decision)).status, 201);
  };
  await takeDown(reply.id);
  const deleted = async (path: string) => {
    const { text } = await service.call('GET', `${path}.atom`);
    const { feed } = PARSER.parse(text, true);
    const json = await readJsonFeed(service, `${path}.json`);
    const stones = [feed['at:deleted-entry'] ?? []].flat();
    t.same(
      json._deleted.map(({ id }: { id: string }) => id),
      stones.map((stone) => stone['@ref']),
    );
    if (stones[0]) t.equal(feed.updated, stones[0]['@when'], 'it is the last change');
    return stones.map((stone) => stone['@ref']);
  };
  t.same(await deleted(`/notes/${note.id}`), [`urn:uuid:${reply.id}`]);
  t.same(await deleted('/guestbook/service'), []);
  await takeDown(note.id);
  t.same(await deleted('/guestbook/service'), [`urn:uuid:${note.id}`]);
  t.equal((await service.call('GET', `/notes/${note.id}.atom`)).status, 410);
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
    texts.toReversed().map(plain),
  );
  const { items } = await readJsonFeed(service, '/guestbook/service.json');
  t.same(
    items.map(({ content_text }: { content_text: string }) => content_text),
    texts.toReversed(),
  );
});
