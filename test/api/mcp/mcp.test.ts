import { request } from 'node:http';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { toWindow } from '../../../services/protocols/mcp/arguments.ts';
import { REVISIONS } from '../../../services/protocols/mcp/contract.ts';
import { rawRequest, sendRaw } from '../../support/raw.ts';
import { type Service, startService } from '../../support/service.ts';

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

t.test('refuses requests that are not one JSON message from an allowed origin', async (t) => {
  const service = await startService(t);
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    service.call('POST', '/mcp', { body, headers });
  t.equal((await post(LIST)).status, 200);
  for (const method of ['GET', 'DELETE']) {
    const answer = await service.call(method, '/mcp');
    t.equal(answer.status, 405);
    t.equal(answer.headers.get('allow'), 'POST');
  }
  const cases: [string, unknown, Record<string, string>, number, number][] = [
    ['a batch', [LIST, LIST], {}, 400, -32600],
    ['invalid JSON', '{', {}, 400, -32700],
    ['a duplicate member', '{"id":1,"id":2}', {}, 400, -32700],
    ['a body above the limit', { ...LIST, params: { x: 'x'.repeat(66_000) } }, {}, 413, -32600],
    ['another content type', LIST, { 'content-type': 'text/plain' }, 415, -32600],
    ['another origin', LIST, { origin: 'https://example.org' }, 403, -32600],
    ['an opaque origin', LIST, { origin: 'null' }, 403, -32600],
  ];
  for (const [label, body, headers, status, code] of cases) {
    const answer = await post(body, headers);
    t.equal(answer.status, status, label);
    t.equal(answer.body.error.code, code, label);
    t.equal(answer.headers.get('mcp-session-id'), null);
    t.notOk('id' in answer.body, `${label}: the protocol has no id of null`);
  }
});

t.test('does not agree to a revision whose servers take batches', async (t) => {
  const service = await startService(t);
  const initialize = (protocolVersion: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  for (const [asked, agreed] of [
    ['2025-03-26', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
  ] as const) {
    const { body } = await service.call('POST', '/mcp', { body: initialize(asked) });
    t.equal(body.result.protocolVersion, agreed, asked);
  }
  const headers = { 'mcp-protocol-version': '2025-03-26' };
  t.equal((await service.call('POST', '/mcp', { body: LIST, headers })).status, 400);
});

/** Returns the status for a Host, Origin and target that `fetch` would not send. */
function statusOf(
  service: Service,
  headers: { host: string; origin?: string },
  path = '/mcp',
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(service.baseUrl);
    const all = { ...headers, 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, path, method: 'POST', headers: all };
    const req = request(options, (res) => {
      res.resume();
      resolve(res.statusCode);
    });
    req.on('error', reject);
    req.end(JSON.stringify(LIST));
  });
}

t.test('accepts loopback names only in Host and Origin on a loopback service', async (t) => {
  const service = await startService(t);
  const { host } = new URL(service.baseUrl);
  for (const other of [host, 'localhost', 'LocalHost:1', '[::1]:4103', '127.0.0.1'])
    t.equal(await statusOf(service, { host: other }), 200, other);
  const refusedHosts = [
    'example.org',
    '@localhost',
    'user@localhost',
    'localhost/x',
    'localhost?x',
  ];
  for (const other of [
    ...refusedHosts,
    'localhost#x',
    'localhost\\x',
    '%6cocalhost',
    'localhost:99999',
  ])
    t.equal(await statusOf(service, { host: other }), 403, other);
  for (const origin of [service.baseUrl, 'http://localhost', 'http://localhost:1', 'http://[::1]'])
    t.equal(await statusOf(service, { host, origin }), 200, origin);
  const refusedOrigins = [
    '',
    'null',
    'http://example.org',
    'https://localhost',
    'file://localhost',
  ];
  for (const origin of [
    ...refusedOrigins,
    'http://a@localhost',
    'http://localhost/x',
    'http://localhost?',
  ])
    t.equal(await statusOf(service, { host, origin }), 403, origin);
  const target = `http://${host}/mcp`;
  t.equal(
    await statusOf(service, { host }, target),
    200,
    'an absolute target, as a proxy sends it',
  );
});

t.test('accepts only its own host and origin, with the port, on a public service', async (t) => {
  const service = await startService(t, { BASE_URL: 'https://example.org' });
  const origin = 'https://example.org';
  for (const host of ['example.org', 'Example.org:443']) {
    t.equal(await statusOf(service, { host }), 200, host);
    t.equal(await statusOf(service, { host, origin }), 200, host);
  }
  for (const host of ['localhost', 'example.org:80', 'example.org.', 'www.example.org'])
    t.equal(await statusOf(service, { host }), 403, host);
  for (const other of [
    'http://example.org',
    'https://example.org:8443',
    'https://a@example.org',
    '',
  ])
    t.equal(await statusOf(service, { host: 'example.org', origin: other }), 403, other);
});

const ERAS = {
  '2025-11-25': {},
  '2026-07-28': {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};

t.test('explains invalid params in a sentence, in both eras', async (t) => {
  const service = await startService(t);
  const argument = { name: 'id', value: '' };
  const cases: [string, object, RegExp][] = [
    ['initialize', { protocolVersion: 5 }, /protocolVersion: must be a string/],
    ['tools/call', {}, /name: is required/],
    ['tools/call', { name: 'get_status', arguments: [] }, /arguments: must be an object/],
    ['tools/call', { name: 'toString' }, /toString not found/],
    ['tools/call', { name: '__proto__' }, /__proto__ not found/],
    ['resources/read', {}, /uri: is required/],
    ['prompts/get', {}, /name: is required/],
    ['prompts/get', { name: 'introduce_service', arguments: { a: 5 } }, /arguments.a: /],
    ['prompts/get', { name: 'constructor' }, /constructor not found/],
    ['completion/complete', { argument }, /ref: /],
    ['completion/complete', { argument, ref: { type: 'ref/prompt', name: 'toString' } }, /found/],
    ...['constructor', '__proto__'].map((inherited): [string, object, RegExp] => [
      'completion/complete',
      {
        ref: { type: 'ref/resource', uri: 'service://members/{id}' },
        argument: { name: inherited, value: '' },
      },
      new RegExp(`${inherited} not found`),
    ]),
    ...['tools', 'prompts', 'resources', 'resources/templates'].map(
      (of): [string, object, RegExp] => [`${of}/list`, { cursor: 'made-up' }, /cursor: /],
    ),
  ];
  for (const [era, _meta] of Object.entries(ERAS))
    for (const [method, given, message] of cases) {
      if (era === '2026-07-28' && method === 'initialize') continue;
      const { name, uri } = given as { name?: string; uri?: string };
      const { status, body } = await service.call('POST', '/mcp', {
        body: { ...LIST, method, params: { ...given, _meta } },
        headers: {
          'mcp-protocol-version': era,
          ...(era === '2026-07-28' && { 'mcp-method': method }),
          ...((name ?? uri) && { 'mcp-name': name ?? uri }),
        },
      });
      t.equal(status, 200, `${era} ${method}`);
      t.match(body, { id: 1, error: { code: -32602, message } }, `${era} ${method}`);
      t.notMatch(body.error?.message, /[[{\n]/, 'the message is no dump of issues');
    }
  const unnamed = await service.call('POST', '/mcp', {
    body: { ...LIST, method: 'tools/call', params: { _meta: ERAS['2026-07-28'] } },
    headers: { 'mcp-protocol-version': '2026-07-28' },
  });
  t.equal(unnamed.status, 400, 'a missing protocol header is refused first');
});

t.test("reports invalid arguments as the tool's error, in both eras", async (t) => {
  const service = await startService(t);
  const cases: [object, string][] = [
    [{ limit: '5' }, 'limit'],
    [{ limit: 0 }, 'limit'],
    [{ state: 'shut' }, 'state'],
    [{ colour: 'red' }, ''],
  ];
  for (const [era, _meta] of Object.entries(ERAS))
    for (const [given, path] of cases) {
      const { status, body } = await service.call('POST', '/mcp', {
        body: {
          ...LIST,
          method: 'tools/call',
          params: { name: 'list_cases', arguments: given, _meta },
        },
        headers: {
          'mcp-protocol-version': era,
          ...(era === '2026-07-28' && { 'mcp-method': 'tools/call', 'mcp-name': 'list_cases' }),
        },
      });
      const label = `${era} ${JSON.stringify(given)}`;
      t.equal(status, 200, label);
      t.equal(body.result.isError, true, label);
      const { error } = body.result.structuredContent;
      t.equal(error.code, 'invalid_request', label);
      if (path) t.equal(error.issues[0].path, path, label);
      t.equal(error.issues.length, 1, label);
    }
});

t.test('answers at /mcp/ as at /mcp', async (t) => {
  const service = await startService(t);
  const [plain, slash] = await Promise.all(
    ['/mcp', '/mcp/'].map((path) => service.call('POST', path, { body: LIST })),
  );
  t.equal(slash?.status, 200);
  t.equal(slash?.text, plain?.text);
  t.equal((await service.call('GET', '/mcp/')).headers.get('allow'), 'POST');
  t.equal(await statusOf(service, { host: 'example.org' }, '/mcp/'), 403, 'the same checks apply');
  t.equal(
    (await service.call('POST', '/mcp//', { body: LIST })).status,
    404,
    'only one trailing slash is accepted',
  );
  const routes = service.logged.map((line) => JSON.parse(line).route);
  t.same(new Set(routes), new Set(['/mcp', '-']), 'one route in the log and the metrics');
});

t.test('ignores bearers and cookies, and logs neither', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const call = (headers: Record<string, string>) =>
    service.call('POST', '/mcp', {
      body: { ...LIST, method: 'tools/call', params: { name: 'get_status', arguments: {} } },
      headers,
    });
  const plain = await call({});
  const bearers = [{ authorization: agent.authorization }, { authorization: 'Bearer nonsense' }];
  for (const headers of [...bearers, { cookie: '__Host-ServiceSession=x' }]) {
    const answer = await call(headers);
    t.equal(answer.status, 200);
    t.equal(answer.text, plain.text);
    t.equal(answer.headers.get('www-authenticate'), null);
  }
  const repeated = ['authorization: Bearer a', 'authorization: Bearer b'];
  const answer = await sendRaw(
    service.baseUrl,
    rawRequest('POST', '/mcp', repeated, JSON.stringify(LIST)),
  );
  t.match(answer, /^HTTP\/1\.1 200 /, 'repeated Authorization headers are ignored as well');
  const sites = ['sec-fetch-site: none', 'sec-fetch-site: none'];
  const refused = await sendRaw(
    service.baseUrl,
    rawRequest('POST', '/mcp', sites, JSON.stringify(LIST)),
  );
  t.match(refused, /^HTTP\/1\.1 403 .*"code":-32600/s);
  t.notMatch(service.logged.join(''), agent.credential.credential_secret);
  for (const path of [
    'oauth-protected-resource',
    'oauth-authorization-server',
    'openid-configuration',
  ])
    t.equal((await service.call('GET', `/.well-known/${path}`)).status, 404, path);
  t.equal((await service.call('GET', '/.well-known/oauth-protected-resource/mcp')).status, 404);
});

t.test('limits requests by address and states when to retry', async (t) => {
  const service = await startService(t, { LIMIT_MCP_REQUESTS: '2' });
  const answers = [];
  for (let n = 0; n < 3; n++) answers.push(await service.call('POST', '/mcp', { body: LIST }));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 429],
  );
  t.equal(answers[2]?.headers.get('retry-after'), '600');
  const { id, error } = answers[2]?.body ?? {};
  t.equal(id, undefined, 'the message was not read');
  t.match(error, { code: -32600, data: { retry_after: 600, limit: 2 } });
  t.match(error.message, /^Too many requests from this address\. Try again in 600 seconds\.$/);
  t.ok(Date.parse(error.data.resets_at) > Date.now());
  t.match(answers[2]?.headers.get('ratelimit'), /^"mcp-10m";r=0;t=\d+$/);
});

t.test('accepts a notification without a response and offers no subscriptions', async (t) => {
  const service = await startService(t);
  const answer = await service.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', method: 'notifications/initialized' },
  });
  t.same([answer.status, answer.text], [202, '']);
  t.equal(answer.headers.get('content-type'), null, 'an empty response has no content type');
  const listen = { ...LIST, method: 'subscriptions/listen' };
  const refused = await service.call('POST', '/mcp', { body: listen });
  t.equal(refused.body.error.code, -32601);
});

t.test('splits a text by code points to its end', (t) => {
  const piece = (offset: number) => toWindow('👋👋', { offset, max_chars: 2 });
  t.same(piece(0), { text: '"👋', offset: 0, total_chars: 4, next_offset: 2 });
  t.same(piece(2), { text: '👋"', offset: 2, total_chars: 4, next_offset: null });
  t.end();
});

t.test('reports an internal failure without details', async (t) => {
  const service = await startService(t);
  await service.tamper('ALTER TABLE notes RENAME COLUMN message TO texts');
  for (const method of [
    { method: 'tools/call', params: { name: 'list_notes', arguments: {} } },
    { method: 'tools/call', params: { name: 'search_public', arguments: { query: 'x' } } },
  ]) {
    const { body, status } = await service.call('POST', '/mcp', { body: { ...LIST, ...method } });
    t.equal(status, 200);
    t.match(body.result, {
      isError: true,
      content: [{ text: /^internal_error: An internal error/ }],
    });
  }
});

t.test(
  'agrees to the revisions that the SDK knows, without the one that has batches',
  async (t) => {
    const known = SUPPORTED_PROTOCOL_VERSIONS.filter((revision) => revision !== '2025-03-26');
    t.same(REVISIONS, known);
  },
);
