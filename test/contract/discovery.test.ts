import { pino } from 'pino';
import t from 'tap';
import { createApp } from '../../services/app.ts';
import { type Service, startService } from '../support/service.ts';

interface Capability {
  id: string;
  state: string;
  method?: string;
  path?: string;
  contract?: string;
}

const inDocument = (path: string) => path.replace(/:([a-z_]+)/g, '{$1}');
const concrete = (path: string) =>
  path.replace(/\{[a-z_]+\}/g, '7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f');

async function capabilities(service: Service): Promise<Capability[]> {
  return (await service.call('GET', '/api/v1/discovery')).body.capabilities;
}

t.test('has the same operations in route table, document and service', async (t) => {
  const service = await startService(t);
  const rows = [...service.operations.values()].map(
    ({ id, route }) => `${id} ${route.method} ${inDocument(route.path)}`,
  );
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  const documented = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, { operationId: string }>).map(
      ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
    ),
  );
  t.same(documented.sort(), rows.sort());

  const { router, stop } = await createApp(service.core, pino({ level: 'silent' }));
  t.teardown(stop);
  const layers = router.router.stack.map(({ route }) => route?.path ?? 'other');
  const mounted = layers.map((path) => inDocument(path)).sort();
  const served = [...Object.keys(paths), '/a2a/', '/mcp/'];
  t.same(mounted, served.sort(), 'nothing else is mounted');

  for (const [path, item] of Object.entries(paths)) {
    const documentedMethods = Object.keys(item as object).map((method) => method.toUpperCase());
    if (documentedMethods.includes('GET')) documentedMethods.push('HEAD');
    const answer = await service.call('PATCH', concrete(path));
    t.equal(answer.status, 405, `${path} is there`);
    t.same(answer.headers.get('allow')?.split(', ').sort(), documentedMethods.sort(), path);
  }
});

t.test('lists each operation once, at an address that answers', async (t) => {
  const service = await startService(t);
  const listed = await capabilities(service);
  t.equal(new Set(listed.map(({ id }) => id)).size, listed.length);
  const operations = service.operations;
  const withPath = listed.filter(({ path }) => path);
  for (const { id, method, path } of withPath) {
    t.ok(operations.has(id) || ['a2a', 'mcp'].includes(id), `${id} is an operationId`);
    const { headers } = await service.call('PATCH', concrete(path ?? ''));
    t.ok(
      headers
        .get('allow')
        ?.split(', ')
        .includes(method ?? ''),
      `${id}: ${method} ${path}`,
    );
  }
  t.same(
    new Set(withPath.map(({ contract }) => contract)),
    new Set([`${service.baseUrl}/openapi.json`]),
  );
  t.same(listed.slice(withPath.length), [
    { id: 'moderation', state: 'available' },
    { id: 'operations', state: 'available' },
  ]);
  const given = new Set(listed.map(({ method, path }) => `${method} ${path}`));
  for (const { id, route } of operations.values())
    if (!['moderation', 'operations', 'documents', 'pages'].includes(route.tag))
      t.ok(given.has(`${route.method} ${inDocument(route.path)}`), id);

  const { interfaces } = (await service.call('GET', '/api/v1/discovery')).body;
  for (const [name, url] of Object.entries(interfaces as Record<string, string>)) {
    const { status } = await service.call('PATCH', url.replace(service.baseUrl, ''));
    t.equal(status, 405, `${name} is there`);
  }
  for (const name of ['guestbook', 'openapi', 'for_agents', 'policy', 'reference'])
    t.ok(interfaces[name], name);
});

t.test('reports operations closed by configuration as disabled', async (t) => {
  const closed = {
    API_OPEN: 'false',
    GUESTBOOK_OPEN: 'false',
    MEMBERSHIP_OPEN: 'false',
    A2A_ENABLED: 'false',
  };
  const service = await startService(t, closed);
  const listed = await capabilities(service);
  const states = Object.fromEntries(listed.map(({ id, state }) => [id, state]));
  const { admission } = (await service.call('GET', '/api/v1/status')).body;
  t.same(admission, { membership: false, notes: false });
  for (const id of ['guestbook.submit', 'membership.register', 'case.list', 'agents.get', 'a2a'])
    t.equal(states[id], 'disabled', id);
  for (const id of ['guestbook.read', 'membership.login', 'updates.list', 'credential.me'])
    t.equal(states[id], 'available', id);
  for (const { id, method, path } of listed) {
    // The path does not exist if A2A is disabled.
    if (method !== 'GET' || id === 'a2a.card') continue;
    const { status, body } = await service.call('GET', concrete(path ?? ''));
    t.equal(body.status === 'api_disabled', states[id] === 'disabled', `${id} ${status}`);
  }
});
