import { randomUUID } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { consent } from '../../../harness/cases.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { brief } from '../../../harness/packets.ts';
import { publishCase, publishProfile } from '../../../harness/records.ts';
import { StorageUnavailable } from '../../../platform/postgres/errors.ts';
import { type Service, startService } from '../../support/service.ts';
import { furnishSite } from '../../support/site.ts';

const ASKS_HTML = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

t.test('shows every public record as a page without scripts', async (t) => {
  const service = await startService(t);
  const { ada, silent, packets, caseId, openId } = await furnishSite(service);
  const pages: Record<string, readonly RegExp[]> = {
    '/members': [/Ada of the observatory/, new RegExp(`/members/${ada.handle}"`)],
    [`/members/${ada.handle}`]: [/Counts stars\./, /What was seen/, /Find the second moon/],
    '/cases': [/Find the second moon/, /Name the comet/, />claimed</],
    '/cases?state=open': [/Name the comet/, /<title>Open cases · Guestbook/],
    [`/cases/${caseId}`]: [
      /A heap snapshot/,
      /Starting with the oldest plates/,
      /asked for changes/,
    ],
    '/packets': [/Where the telescope points now/, /What was seen/],
    '/packets?kind=result': [/What was seen/],
    [`/packets/${packets.first}`]: [/There is a newer version/, new RegExp(packets.second)],
    [`/packets/${packets.evidence}`]: [/With its digest and place/, /example\.org/],
    [`/packets/${packets.work}`]: [/unknown-side-effect/, /reconcile_before_retry/],
    '/activity': [/opened a case/, /published a packet/, /wrote: “/],
    '/search?q=telescope': [/<mark>telescope<\/mark>/, /What a <mark>/],
    '/about': [
      /A note is public only after a decision/,
      /How keys work/,
      /Software only sorts and explains/,
      /We never shadow-ban/,
      /undone within 10 minutes/,
      /spam or advertising, .*, pretending to be someone else, something else\./,
    ],
    '/search': [/placeholder="Search notes, members, packets and cases"/],
    '/for-agents': [/<h2>2\. Register<\/h2>/, /curl -sSf/],
  };
  for (const [path, expected] of Object.entries(pages)) {
    const page = await service.call('GET', path, { headers: ASKS_HTML });
    t.equal(page.status, 200, path);
    for (const pattern of expected) t.match(page.text, pattern, path);
    t.notMatch(page.text, /<script|\sstyle=|\son\w+=|undefined|\[object/, path);
    t.match(page.text, /<link rel="icon" href="[^"\s]+"/, `${path}: an address without spaces`);
    t.match(page.headers.get('content-security-policy'), /script-src 'none'/, path);
    t.match(page.text, /<title>[^<]+ · Guestbook<\/title>/);
    t.match(page.text, '<a href="/api/v1/status">Status (JSON)</a>', path);
    const again = { 'if-none-match': page.headers.get('etag') ?? '' };
    t.equal((await service.call('GET', path, { headers: again })).status, 304, path);
  }
  const other = await service.call('GET', '/cases?state=open');
  t.notMatch(other.text, /Find the second moon/, 'a claimed case is not open');
  const opened = await service.call('GET', `/cases/${openId}`);
  t.notMatch(opened.text, silent.handle, 'a member without a profile is not named');
  t.match(opened.text, `member ${silent.id.slice(0, 8)}`);
  const noneOpen = await (await startService(t)).call('GET', '/cases?state=open');
  t.match(noneOpen.text, /No open case\. <a href="\/for-agents">How agents open one<\/a>/);
  const none = await service.call('GET', '/cases?state=withdrawn');
  t.match(none.text, /No withdrawn case\. <a href="\/for-agents">How agents open one<\/a>/);
});

t.test('shows the host of an address only where the address writes it otherwise', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const plain = 'https://Example.org/source';
  const long = 'https://[2001:0DB8:0:0:0:0:0:1]/source';
  const addresses = [plain, long];
  const { body } = await agent.call('POST', '/api/v1/me/profile', {
    display_name: 'Ada',
    summary: 'Counts',
    links: addresses,
    capabilities: [],
    ...consent,
  });
  t.equal(body.status, 'published');
  const packet = brief();
  packet.provenance.source_refs = addresses;
  const published = await agent.call('POST', '/api/v1/artifacts', packet);
  t.equal(published.status, 201, published.text);
  for (const path of [`/members/${agent.handle}`, `/packets/${published.body.artifact.id}`]) {
    const { text } = await service.call('GET', path);
    t.match(text, `>${plain}</a></li>`, `${path}: the address alone`);
    t.match(
      text,
      `>${long}</a><span class="hint"> [2001:db8::1]</span></li>`,
      `${path}: the host after the address`,
    );
  }
});

t.test('names the canonical address and the same content for programs', async (t) => {
  const service = await startService(t);
  const { caseId } = await furnishSite(service);
  const { text } = await service.call('GET', `/cases/${caseId}?utm_source=elsewhere`);
  t.match(text, `<link rel="canonical" href="${service.baseUrl}/cases/${caseId}"/>`);
  t.match(text, `<meta property="og:title" content="Find the second moon · Guestbook"/>`);
  t.match(text, `rel="alternate" type="application/json" href="/api/v1/cases/${caseId}"`);
  const search = await service.call('GET', '/search?q=moon');
  t.match(search.text, '<meta name="robots" content="noindex"/>');
  t.notMatch(search.text, 'canonical');
});

t.test('pages lists by address', async (t) => {
  const service = await startService(t);
  const { ada } = await furnishSite(service);
  for (let count = 0; count < 31; count++)
    await ada.call('POST', '/api/v1/cases', {
      title: `Case number ${count}`,
      summary: 'One of many',
      objective: 'Be counted',
      acceptance_criteria: ['It is counted'],
      visibility: 'public',
      publish_consent: true,
      policy_version: 'service-public-v1',
    });
  const first = await service.call('GET', '/cases?state=open');
  const [, older = ''] = /rel="next" href="([^"]+)">Older/.exec(first.text) ?? [];
  t.match(older, /^\/cases\?state=open&amp;cursor=/);
  const second = await service.call('GET', older.replaceAll('&amp;', '&'));
  t.match(second.text, 'Name the comet');
  t.notMatch(second.text, 'Older cases');
});

t.test('answers errors with a page where HTML is asked for, else with JSON', async (t) => {
  const service = await startService(t);
  const { ada } = await furnishSite(service);
  const missing = [
    '/cases/nonsense',
    `/packets/${randomUUID()}`,
    '/members/no_one_here',
    '/no/such/page',
    `/members/${ada.handle.toUpperCase()}`,
  ];
  for (const path of missing) {
    const page = await service.call('GET', path, { headers: ASKS_HTML });
    t.equal(page.status, 404, path);
    t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    t.equal(page.headers.get('cache-control'), 'no-store');
    t.match(page.text, /<h1>Nothing is here<\/h1>/);
    t.match(page.text, '<meta name="robots" content="noindex"/>');
    const json = await service.call('GET', path);
    t.equal(json.status, 404);
    t.equal(json.body.error.code, 'not_found');
  }
  for (const path of ['/cases?cursor=nonsense', '/cases?state=lost', '/packets?kind=song']) {
    const page = await service.call('GET', path, { headers: ASKS_HTML });
    t.equal(page.status, 400, path);
    t.match(page.text, /This address is not valid/);
    t.match(page.text, /This link is incomplete or too old\. Start from the newest notes\./);
  }
  const api = await service.call('GET', '/api/v1/cases/nonsense', { headers: ASKS_HTML });
  t.equal(api.body.error.code, 'invalid_request', 'the API answers with JSON alone');
  const refused = { accept: 'application/json, text/html;q=0' };
  t.equal((await service.call('GET', '/nowhere', { headers: refused })).body.status, 'not_found');
  const head = await fetch(`${service.baseUrl}/nowhere`, { method: 'HEAD', headers: ASKS_HTML });
  t.equal(head.status, 404);
});

t.test('says of a withdrawn record that it is gone, and no more of it', async (t) => {
  const service = await startService(t);
  const { ada, packets } = await furnishSite(service);
  await ada.call('POST', `/api/v1/artifacts/${packets.evidence}/withdraw`, {});
  await ada.call('POST', '/api/v1/me/profile/withdraw', {});
  for (const path of [`/packets/${packets.evidence}`, `/members/${ada.handle}`]) {
    const page = await service.call('GET', path, { headers: ASKS_HTML });
    t.equal(page.status, 410, path);
    t.match(page.text, /<h1>No longer here<\/h1>/);
    t.notMatch(page.text, /What was seen|Ada of/);
  }
  const { text } = await service.call('GET', '/cases');
  t.notMatch(text, ada.handle, 'a handle is public with the profile alone');
});

t.test('answers 503 for the records of a disabled API and keeps the rest', async (t) => {
  const service = await startService(t, { API_OPEN: 'false' });
  for (const path of ['/members', '/cases', '/packets', '/activity', '/search?q=word']) {
    const page = await service.call('GET', path, { headers: ASKS_HTML });
    t.equal(page.status, 503, path);
    t.match(page.text, /Not available at the moment/);
  }
  for (const path of ['/about', '/for-agents'])
    t.equal((await service.call('GET', path)).status, 200, path);
});

t.test('refuses search words with the reason beside the form', async (t) => {
  const service = await startService(t);
  const long = await service.call('GET', `/search?q=${'a'.repeat(201)}`);
  t.equal(long.status, 200);
  t.match(long.text, /must have at most 200 characters/);
  t.notMatch((await service.call('GET', '/search')).text, /class="records"|role="alert"/);
  t.match(
    (await service.call('GET', '/search?q=%22nothing+such%22')).text,
    /Nothing public contains/,
  );
});

t.test('shows a note under its address as long as it is public', async (t) => {
  const service = await startService(t);
  const { lead, note } = await furnishSite(service);
  const reply = await submit(service, { name: 'Bo', message: 'A fine one.', parent_id: note.id });
  const path = `/notes/${reply.id}`;
  t.equal((await service.call('GET', path)).status, 404, 'before anyone approved it');
  await decide(lead, reply.id, 'approve');
  t.match((await service.call('GET', path)).text, /In reply to .*What a telescope you have!/s);
  t.match((await service.call('GET', '/')).text, />1 reply</);
  const thread = await service.call('GET', `/notes/${note.id}`);
  t.match(thread.text, 'A fine one.');
  t.match(thread.text, '<title>Eve: What a telescope you have! · Guestbook</title>');
  const removed = await lead.post(`notes/${note.id}/decisions`, {
    action: 'remove',
    expected_version: 2,
    policy: 'spam',
  });
  t.equal(removed.status, 201, removed.text);
  for (const gone of [`/notes/${note.id}`, path]) {
    const page = await service.call('GET', gone, { headers: ASKS_HTML });
    t.equal(page.status, 410);
    t.notMatch(page.text, /telescope|A fine one/);
    t.equal((await service.call('GET', `${gone}?before=nonsense`)).status, 400);
  }
  t.equal((await service.call('GET', '/notes/nonsense')).status, 404);
  t.equal((await service.call('GET', '/guestbook/nowhere')).status, 404);
  t.equal((await service.call('GET', '/guestbook/service')).status, 404, 'it is at / alone');
});

t.test('marks texts of strangers with the language that their script proves', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'ann', 'lead');
  const page = async (path: string) => (await service.call('GET', path)).text;
  const note = async (name: string, message: string) => {
    const { id } = await submit(service, { name, message });
    await decide(lead, id, 'approve');
    return page(`/notes/${id}`);
  };
  const japanese = await note('さくら', '東京に住んでいます');
  t.match(japanese, /<p dir="auto" lang="ja" class="message foreign"[^>]*>東京に/);
  t.match(japanese, /<bdi dir="auto" lang="ja"[^>]*>さくら/);
  const latin = await note('Анна', 'Guten Tag');
  t.match(latin, /<p dir="auto" class="message foreign"[^>]*>Guten Tag/, 'Latin inherits');
  t.match(latin, /<bdi dir="auto" lang="und-Cyrl"[^>]*>Анна/);
  t.match(await page('/'), /lang="ja"/);
  const query = encodeURIComponent('東京');
  t.match(await page(`/search?q=${query}`), /<p dir="auto" lang="ja" class="prose short foreign"/);

  const agent = await newAgent(service);
  await publishProfile(agent, 'דנה לוי');
  const profile = await page(`/members/${agent.handle}`);
  t.match(profile, /<h1><bdi dir="auto" lang="he"[^>]*>דנה/);
  const { id } = await publishCase(agent, 'Помогите найти ошибку');
  t.match(await page(`/cases/${id}`), /<bdi dir="auto" lang="und-Cyrl"[^>]*>Помогите/);
});

t.test('embeds notes in the page as data that no text can end', async (t) => {
  const service = await startService(t);
  const { lead } = await furnishSite(service);
  const message = '</script><script>alert(1)</script><!--';
  const { id } = await submit(service, { name: '<!--', message });
  await decide(lead, id, 'approve');
  for (const path of ['/', `/notes/${id}`]) {
    const { text } = await service.call('GET', path);
    t.equal(text.split('<script').length, 3, 'the script and the data');
    t.equal(text.split('</script').length, 3);
    const [, data = ''] =
      /<script type="application\/json" id="view">(.*?)<\/script>/s.exec(text) ?? [];
    const { view } = JSON.parse(data);
    t.equal((view.note ?? view.notes[0]).message, message);
  }
});

/** Posts a form as a browser does. */
const post = (service: Service, fields: Record<string, string>, headers: object = {}) =>
  fetch(`${service.baseUrl}/guestbook`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...ASKS_HTML, origin: service.baseUrl, ...headers },
    body: new URLSearchParams(fields),
  });

t.test('takes a note from a form and shows what became of it', async (t) => {
  const service = await startService(t);
  const { lead, note } = await furnishSite(service);
  const form = await service.call('GET', `/write?reply_to=${note.id}`);
  t.equal(form.headers.get('cache-control'), 'private, max-age=0, must-revalidate');
  t.match(form.text, 'What a telescope you have!');
  const hidden = [...form.text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value],
  );
  const fields = {
    ...Object.fromEntries(hidden),
    message: 'By hand,\r\nwithout scripts',
    website: '',
  };
  t.match(fields, { id: /^[0-9a-f-]{36}$/, experience: 'service', parent_id: note.id });
  for (const _ of ['sent', 'sent again by a second press']) {
    const answer = await post(service, fields);
    t.equal(answer.status, 303);
    t.equal(answer.headers.get('location'), `/notes/${fields.id}/sent`);
  }
  const sent = `/notes/${fields.id}/sent`;
  const waiting = await service.call('GET', sent);
  t.match(waiting.text, /waits for review/);
  const progress = ({ text }: { text: string }) =>
    [...text.matchAll(/<li class="done"[^>]*>([^<]+)/g)].map(([, step]) => step);
  t.same(progress(waiting), ['Sent']);
  t.equal((await service.call('GET', `/notes/${fields.id}`)).status, 404, 'it is not public yet');
  const { items } = (await lead.get('queue')).body;
  t.match(items, [{ text: 'By hand,\nwithout scripts', author: { kind: 'guest' } }]);
  await decide(lead, fields.id, 'approve');
  const published = await service.call('GET', sent);
  t.match(published.text, /is published/);
  t.same(progress(published), ['Sent', 'Read by a moderator', 'Public']);
  t.match((await service.call('GET', sent)).text, 'content="noindex"');
});

t.test('shows a rejected note as waiting until its undo window is over', async (t) => {
  for (const [seconds, text] of [
    ['600', /waits for review/],
    ['0', /is not public/],
  ] as const) {
    const service = await startService(t, { UNDO_WINDOW_SECONDS: seconds });
    const { lead } = await furnishSite(service);
    const { id } = await submit(service, { name: 'Bo', message: 'Buy a telescope!' });
    await decide(lead, id, 'reject');
    t.match((await service.call('GET', `/notes/${id}/sent`)).text, text);
  }
});

t.test('returns a refused form with the reasons and the text', async (t) => {
  const service = await startService(t, { LIMIT_NOTES_PER_DAY: '1' });
  const id = randomUUID();
  const fields = { id, experience: 'service', parent_id: '', website: '', name: 'Ada' };
  const refused = async (more: Record<string, string>) => {
    const answer = await post(service, { ...fields, ...more });
    t.equal(answer.status, 422);
    return answer.text();
  };
  const long = await refused({ message: `<b>${'x'.repeat(500)}` });
  t.match(long, /503 characters: 3 too many/);
  t.match(long, '&lt;b>xxx', 'the text is kept');
  t.match(long, `value="${id}"`);
  t.match(await refused({ message: '  ' }), /It must have a visible character/);
  t.match(await refused({ message: 'x', name: 'y'.repeat(41) }), /41 characters: 1 too many/);
  const stale = await refused({ message: 'Kept', id: 'none' });
  t.match(stale, /The form was out of date/);
  t.match(stale, /name="id" value="[0-9a-f-]{36}"/);
  t.match(stale, '>Kept<');
  const nowhere = await refused({ message: 'Kept', experience: 'nowhere' });
  t.match(nowhere, /There is no such guestbook/);
  t.match(nowhere, '>Kept<');
  const filled = await refused({ message: 'Kept', website: 'https://example.org' });
  t.match(filled, /Your browser filled a hidden field/);
  const invisible = await refused({ message: 'Be\u0007low', name: 'A\u001bda' });
  t.match(invisible, /It had invisible control characters, which were removed/);
  t.match(invisible, '>Below<');
  t.match(invisible, 'value="Ada"');
  const orphan = await refused({ id: randomUUID(), parent_id: randomUUID(), message: 'A reply' });
  t.match(orphan, /role="alert"/);
  t.match(orphan, 'A reply');
  t.equal((await post(service, { ...fields, message: 'First' })).status, 303);
  const conflict = await refused({ message: 'Another text' });
  t.match(conflict, /role="alert"/);
  t.notMatch(conflict, `value="${id}"`, 'the other text is another note');
  const second = { ...fields, id: randomUUID(), message: 'Second' };
  const limited = await post(service, second);
  t.equal(limited.status, 429);
  t.equal(limited.headers.get('retry-after'), '600');
  const page = await limited.text();
  t.match(page, /Too many notes came from your network/);
  t.match(page, '>Second<');
  t.match(page, `value="${second.id}"`, 'sent again, it is the same note');
});

t.test(
  'returns the form and its text while the guestbook is closed or storage is down',
  async (t) => {
    const closed = await startService(t, { GUESTBOOK_OPEN: 'false' });
    const fields = { id: randomUUID(), message: 'Kept', website: '' };
    const refused = await post(closed, fields);
    t.equal(refused.status, 503);
    const page = await refused.text();
    t.match(page, /The guestbook takes no notes at the moment/);
    t.match(page, '>Kept<');

    const service = await startService(t);
    const parent_id = randomUUID();
    const { pool } = service.core;
    pool.connect = () => Promise.reject(new StorageUnavailable());
    pool.query = () => Promise.reject(new StorageUnavailable());
    const lost = await post(service, { ...fields, parent_id });
    t.equal(lost.status, 503);
    const kept = await lost.text();
    t.match(kept, /The service cannot save anything at the moment/);
    t.match(kept, '>Kept<');
    t.match(kept, `name="parent_id" value="${parent_id}"`);
  },
);

t.test('takes every kind of line break from a form, and no text but UTF-8', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const message = 'a\r\nb\rc\vd\fe\u0085f';
  t.equal((await post(service, { id: randomUUID(), message, website: '' })).status, 303);
  t.match((await ann.get('queue')).body.items, [{ text: 'a\nb\nc\nd\ne\nf' }]);
  const latin = await fetch(`${service.baseUrl}/guestbook`, {
    method: 'POST',
    headers: {
      origin: service.baseUrl,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: `id=${randomUUID()}&message=caf%E9`,
  });
  t.equal(latin.status, 415);
});

t.test('leads from another loopback name to the address that takes writes', async (t) => {
  const service = await startService(t);
  const { port } = new URL(service.baseUrl);
  const read = (host: string, path: string) =>
    new Promise<IncomingMessage>((resolve, reject) =>
      get(`${service.baseUrl}${path}`, { headers: { host } }, resolve).once('error', reject),
    );
  const moved = await read(`localhost:${port}`, '/write?in=service');
  t.equal(moved.statusCode, 307);
  t.equal(moved.headers.location, `${service.baseUrl}/write?in=service`);
  for (const [host, path] of [
    [`127.0.0.1:${port}`, '/write'],
    [`localhost:${port}`, '/api/guestbook'],
    ['localhost:9', '/write'],
    ['guestbook.example', '/write'],
  ] as const)
    t.equal((await read(host, path)).statusCode, 200, `${host}${path}`);
});

t.test('takes a form from its own pages alone', async (t) => {
  const service = await startService(t);
  const fields = { id: randomUUID(), message: 'From elsewhere', website: '' };
  for (const headers of [{ origin: 'https://example.org' }, { 'sec-fetch-site': 'cross-site' }]) {
    const answer = await post(service, fields, headers);
    t.equal(answer.status, 403);
    t.match(answer.headers.get('content-type'), 'text/html');
  }
  const json = await service.call('POST', '/guestbook', { body: fields });
  t.equal(json.status, 415);
  t.match(json.body.error.message, /application\/x-www-form-urlencoded/);
  const twice = await fetch(`${service.baseUrl}/guestbook`, {
    method: 'POST',
    headers: {
      origin: service.baseUrl,
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
    },
    body: 'message=a&message=b',
  });
  t.equal(twice.status, 400);
  t.match(await twice.json(), {
    error: { issues: [{ path: 'message', message: 'must be sent once' }] },
  });
  t.equal((await service.call('GET', '/write?in=nowhere')).status, 400);
});
