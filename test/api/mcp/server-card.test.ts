import t from 'tap';
import { serverCard } from '../../../services/protocols/mcp/card.ts';
import { REVISIONS, STATELESS_REVISION } from '../../../services/protocols/mcp/contract.ts';
import { startService } from '../../support/service.ts';

const PATH = '/mcp/server-card';
const TYPE = 'application/mcp-server-card+json';

t.test('has no server card by default, and names none', async (t) => {
  const service = await startService(t);
  t.equal((await service.call('GET', PATH)).status, 404);
  for (const path of ['/api/v1/discovery', '/.well-known/api-catalog', '/developers'])
    t.notMatch((await service.call('GET', path)).text, 'server-card', path);
});

t.test('serves a card that says what the server says once a client is connected', async (t) => {
  const service = await startService(t, { MCP_SERVER_CARD: 'true' });
  const answer = await service.call('GET', PATH, { headers: { accept: TYPE } });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), TYPE);
  const card = JSON.parse(answer.text);
  const [remote, ...others] = card.remotes;
  t.same(others, []);
  t.equal(remote.type, 'streamable-http');
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: REVISIONS[0],
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  };
  const { body } = await service.call('POST', new URL(remote.url).pathname, { body: initialize });
  const { title, version, websiteUrl } = body.result.serverInfo;
  t.match(card, { title, version, websiteUrl });
  t.same(remote.supportedProtocolVersions, [STATELESS_REVISION, ...REVISIONS]);
});

t.test('lets caches and pages of other origins read the card', async (t) => {
  const service = await startService(t, { MCP_SERVER_CARD: 'true' });
  const { headers } = await service.call('GET', PATH);
  t.equal(headers.get('access-control-allow-origin'), '*');
  t.equal(headers.get('access-control-allow-methods'), 'GET');
  t.equal(headers.get('access-control-allow-headers'), 'Content-Type, If-None-Match');
  t.match(headers.get('access-control-expose-headers'), 'ETag');
  t.match(headers.get('cache-control'), 'public');
  const etag = headers.get('etag') ?? '';
  const again = await service.call('GET', PATH, { headers: { 'if-none-match': etag } });
  t.equal(again.status, 304);
  const preflight = await service.call('OPTIONS', PATH, {
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'if-none-match',
    },
  });
  t.equal(preflight.status, 204);
  t.equal((await service.call('HEAD', PATH)).status, 200);
  t.equal((await service.call('POST', PATH, { body: {} })).status, 405);
});

t.test('names the card in discovery, the catalog, the OpenAPI document and the page', async (t) => {
  const service = await startService(t, { MCP_SERVER_CARD: 'true' });
  const { body } = await service.call('GET', '/api/v1/discovery');
  t.equal(body.interfaces.mcp_server_card, service.baseUrl + PATH);
  t.match(
    body.capabilities.find(({ id }: { id: string }) => id === 'mcp.server_card'),
    { state: 'available', method: 'GET', path: PATH },
  );
  const catalog = JSON.parse((await service.call('GET', '/.well-known/api-catalog')).text);
  const mcp = `${service.baseUrl}/mcp`;
  t.match(
    catalog.linkset.find(({ anchor }: { anchor: string }) => anchor === mcp),
    { 'service-meta': [{ href: mcp + PATH.slice(4), type: TYPE }] },
  );
  t.ok(catalog.linkset[0].item.some(({ href }: { href: string }) => href === mcp));
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  t.same(Object.keys(paths[PATH].get.responses[200].content), [TYPE]);
  t.match((await service.call('GET', '/developers')).text, `${service.baseUrl}${PATH}`);
});

t.test('keeps to the limits of the schema of the card', async (t) => {
  for (const [baseUrl, name] of [
    ['https://guestbook.example.org', 'org.example.guestbook/service'],
    ['http://localhost:3000', 'localhost/service'],
    ['http://127.0.0.1:3000', '127.0.0.1/service'],
    ['http://[::1]:3000', '---1-/service'],
  ])
    for (const sandbox of [false, true]) {
      const card = serverCard({ baseUrl: baseUrl ?? '', sandbox });
      t.equal(card.name, name);
      t.match(card.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
      t.ok(card.description.length <= 100, card.description);
      t.equal(card.description.startsWith('Sandbox'), sandbox);
    }
});
