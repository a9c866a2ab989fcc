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
  const { results, next_cursor } = await search(service, 'q=bell&limit=1');
  const params = { name: 'search_public', arguments: { query: 'bell', limit: 1 } };
  const { body } = await service.call('POST', '/mcp', {
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  });
  t.same(body.result.structuredContent, { results, next_cursor });
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
