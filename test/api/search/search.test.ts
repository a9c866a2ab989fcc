import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { publishProfile } from '../../../harness/records.ts';
import { type Service, startService } from '../../support/service.ts';

const search = async (service: Service, query: string) => {
  const { status, body } = await service.call('GET', `/api/v1/search?${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};

t.test('finds what is public by its words, newest first, page by page', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const author = createCaseCommands(await newAgent(service));
  await publishProfile(author.agent);
  const id = await createOpenCase(author, { title: 'A lighthouse' });
  const note = await submit(service, { message: 'I saw the lighthouse', name: '' });
  t.same((await search(service, 'q=saw')).results, [], 'a pending note is not public');
  await decide(ann, note.id, 'approve');

  const { status, results, next_cursor } = await search(service, 'q=lighthouse');
  t.equal(status, 'ok');
  t.equal(next_cursor, null);
  t.match(results, [
    { kind: 'note', id: note.id, title: 'Guest', excerpt: 'I saw the lighthouse' },
    { kind: 'case', id, title: 'A lighthouse' },
  ]);
  t.match(results[0].at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.match((await search(service, 'q=lighthouse&type=case')).results, [{ kind: 'case', id }]);
  t.same((await search(service, 'q=lighthouse+-saw')).results.length, 1);

  const first = await search(service, 'q=lighthouse&limit=1');
  t.equal(first.results.length, 1);
  const second = await search(service, `q=lighthouse&limit=1&cursor=${first.next_cursor}`);
  t.match(second.results, [{ kind: 'case', id }]);
});

t.test('gives HTTP and MCP the same results', async (t) => {
  const service = await startService(t);
  const author = createCaseCommands(await newAgent(service));
  for (const title of ['One bell', 'Two bells', 'Bell three'])
    await createOpenCase(author, { title });
  const { status: _, ...page } = await search(service, 'q=bell&limit=1');
  const params = { name: 'search_public', arguments: { query: 'bell', limit: 1 } };
  const { body } = await service.call('POST', '/mcp', {
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  });
  t.same(body.result.structuredContent, page);
  t.match(page, { count: 2, complete: true, has_more: true });
});

t.test('finds every word in every script, and marks it', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const cases: [text: string, ...found: [query: string, ...hits: string[]][]][] = [
    [
      'It’s great—really great',
      ['really', 'really'],
      ['GREAT', 'great', 'great'],
      ["it's", 'It’s'],
    ],
    ['He said “wonderful day”', ['wonderful', 'wonderful'], ['“wonderful day”', 'wonderful day']],
    ['O’Brien', ["o'brien", 'O’Brien'], ['brien', 'Brien'], ['@brien', 'Brien']],
    ['«bonjour» à tous', ['bonjour', 'bonjour'], ['a', 'à']],
    ['50€ zebra🎉 foo→bar', ['50', '50'], ['zebra', 'zebra'], ['bar', 'bar']],
    ['مرحبا، كيف؟', ['مرحبا', 'مرحبا'], ['كيف', 'كيف']],
    ['नमस्ते दुनिया।', ['दुनिया', 'दुनिया']],
    ['东京，北京、上海', ['北京', '北京'], ['上海', '上海'], ['海', '海']],
    ['私は大阪に住んでいます', ['大阪', '大阪'], ['住んで', '住んで'], ['す', 'す']],
    ['สวัสดีชาวโลก', ['สวัสดี', 'สวัสดี'], ['โลก', 'โลก']],
    ['ជំរាបសួរពិភពលោក ສະບາຍດີ မင်္ဂလာပါ', ['ពិភព', 'ពិភព'], ['ບາຍ', 'ບາຍ'], ['လာပါ', 'လာပါ']],
    ['서울에서 ｃａｆé', ['서울', '서울'], ['cafe', 'ｃａｆé'], ['CAFÉ', 'ｃａｆé']],
  ];
  for (const [message, ...found] of cases) {
    const { id } = await submit(service, { message, name: 'Someone' });
    await decide(ann, id, 'approve');
    for (const [query, ...hits] of found) {
      const { results } = await search(service, `q=${encodeURIComponent(query)}`);
      const result = results.find((one: { id: string }) => one.id === id);
      t.ok(result, `${query} in ${message}`);
      const marked = (result?.marks ?? []).map(([start, length]: [number, number]) =>
        [...result.excerpt].slice(start, start + length).join(''),
      );
      t.same(marked, hits, `${query} in ${message}`);
      t.equal(result?.attribution, 'guest');
      const queue = await ann.get(`queue?view=decided&q=${encodeURIComponent(query)}`);
      const items: { id: string }[] = queue.body.items;
      t.ok(
        items.some((item) => item.id === id),
        `moderators find ${query} in ${message}`,
      );
    }
  }
  t.match(await search(service, 'q=%F0%9F%8E%89'), { results: [], count: 0, complete: true });
});

t.test('shows the part of a long text around its hit', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const message = `${'👩‍👩‍👧 word '.repeat(20)}then a lighthouse ${'👩‍👩‍👧'.repeat(44)}`;
  const { id } = await submit(service, { message, name: '' });
  await decide(ann, id, 'approve');
  const [{ excerpt, marks }] = (await search(service, 'q=lighthouse')).results;
  t.match(excerpt, /^…\S.* a lighthouse (?:👩‍👩‍👧)+…$/u, 'is cut between graphemes');
  t.ok([...excerpt].length <= 200);
  const [[start, length]] = marks;
  t.equal([...excerpt].slice(start, start + length).join(''), 'lighthouse');
});

t.test('leaves the service to others while searches take too long', async (t) => {
  const service = await startService(t, { DATABASE_POOL_SIZE: '4' });
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service, { message: 'the the', name: '' });
  await decide(ann, id, 'approve');
  // Each search waits for this lock, until its deadline.
  const lock = await service.database.pool.connect();
  await lock.query('BEGIN; LOCK TABLE profiles');
  const searches = Array.from({ length: 30 }, () =>
    service.call('GET', `/api/v1/search?q=${encodeURIComponent('"the the"')}`),
  );
  const others = await Promise.all([
    ...Array.from({ length: 20 }, () => service.call('GET', '/api/guestbook')),
    ...Array.from({ length: 5 }, () => service.call('GET', '/readyz')),
  ]);
  t.same([...new Set(others.map(({ status }) => status))], [200]);
  await submit(service, { message: 'Meanwhile', name: '' });
  const answers = await Promise.all(searches);
  await lock.query('ROLLBACK');
  lock.release();
  for (const { status, headers, body } of answers) {
    t.same([status, body.status], [503, 'overloaded']);
    t.match(headers.get('retry-after'), /^[1-5]$/);
  }
  // On a busy machine, one search may take longer than it has.
  let again = await service.call('GET', '/api/v1/search?q=the');
  while (again.body.status === 'overloaded')
    again = await service.call('GET', '/api/v1/search?q=the');
  t.equal(again.body.count, 1, 'searches work again');
});

t.test('refuses a search without words, of another type, or with a foreign cursor', async (t) => {
  const service = await startService(t);
  const refused = async (query: string) => {
    const { status, body } = await service.call('GET', `/api/v1/search?${query}`);
    return [status, body.status, body.error.issues?.[0]?.path];
  };
  t.same(await refused(''), [400, 'invalid_request', 'q']);
  t.same(await refused('q='), [400, 'invalid_request', 'q']);
  t.same(await refused(`q=${'x'.repeat(201)}`), [400, 'invalid_request', 'q']);
  t.same(await refused('q=x&type=secret'), [400, 'invalid_request', 'type']);
  t.same(await refused('q=x&limit=101'), [400, 'invalid_request', 'limit']);
  t.same(await refused('q=x&cursor=made-up'), [400, 'invalid_cursor', undefined]);
  t.same(await refused('q=x&page=2'), [400, 'query_not_allowed', 'page']);
});

t.test('answers an unchanged search with 304, and none while the API is closed', async (t) => {
  const service = await startService(t);
  const { headers } = await service.call('GET', '/api/v1/search?q=x');
  const etag = headers.get('etag') ?? '';
  t.match(etag, /^"/);
  const again = await service.call('GET', '/api/v1/search?q=x', {
    headers: { 'if-none-match': etag },
  });
  t.equal(again.status, 304);
  const closed = await startService(t, { API_OPEN: 'false' });
  const refused = await closed.call('GET', '/api/v1/search?q=x');
  t.same([refused.status, refused.body.status], [503, 'api_disabled']);
});
