import t from 'tap';
import { problems } from '../../platform/http/problems.ts';
import { bodyLimit } from '../../platform/http/read-request.ts';
import { isMutation } from '../../platform/http/route.ts';
import { startService } from '../support/service.ts';

t.test('keeps the rules that span several routes', async (t) => {
  const service = await startService(t);
  const operations = [...service.operations.values()];
  t.ok(operations.length > 10);
  const seen = new Set<string>();
  for (const { id, route } of operations) {
    const row = `${route.method} ${route.path}`;
    t.notOk(seen.has(row), `${row} stands once`);
    seen.add(row);
    t.match(id, /^[a-z0-9]+(\.[a-z0-9_]+)+$/, `${id} is a name`);
    t.ok(route.summary.length > 0 && !route.summary.endsWith('.'), `${id} has a summary`);

    const versioned = route.path.startsWith('/api/v1/');
    if (versioned && isMutation(route))
      t.equal(route.idempotency, 'required', `${id} needs an Idempotency-Key`);
    if (isMutation(route) && route.access === 'session?')
      t.equal(route.origin, 'cookie', `${id} looks at a cookie, so it checks Origin`);
    if (typeof route.access === 'object' && 'scope' in route.access)
      t.ok(versioned, `${id} takes a bearer, so it stands under /api/v1`);
    for (const code of route.problems) t.ok(code in problems, `${id}: ${code}`);
    for (const [status, { location }] of Object.entries(route.replies))
      t.equal(location !== undefined, status === '201', `${id}: only a 201 has a Location`);

    const names = [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name ?? '').sort();
    t.same(Object.keys(route.params?.shape ?? {}).sort(), names, `${id} declares its parameters`);
  }
});

t.test('limits every body as the contract states', async (t) => {
  const service = await startService(t);
  const limits: [RegExp, number][] = [
    // An authenticator's answer may have a chain of certificates.
    [/^\/api\/membership\/passkeys/, 8192],
    [/^\/api\/membership\/|\/credentials(\/|$)/, 4096],
    [/^\/api\/guestbook(\/|$)/, 8192],
    [/^\/a2a$|^\/api\/v1\/artifacts$/, 327_680],
  ];
  for (const { id, route } of service.operations.values()) {
    const [, most = 65_536] = limits.find(([paths]) => paths.test(route.path)) ?? [];
    if (route.body) t.equal(bodyLimit(route), most, id);
  }
});

t.test('refuses unsupported methods on every path and names the supported ones', async (t) => {
  const service = await startService(t);
  const methods = new Map<string, Set<string>>();
  const withSlash = new Set<string>();
  for (const { route } of service.operations.values()) {
    if (route.transport) withSlash.add(route.path);
    const taken = methods.get(route.path) ?? new Set();
    taken.add(route.method);
    if (route.method === 'GET') taken.add('HEAD');
    methods.set(route.path, taken);
  }
  for (const [path, taken] of methods) {
    const url = path.replace(/:[a-z_]+/g, '7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f');
    for (const address of withSlash.has(path) ? [url, `${url}/`] : [url])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (taken.has(method)) continue;
        const answer = await service.call(method, address);
        t.equal(answer.status, 405, `${method} ${address}`);
        t.same(new Set(answer.headers.get('allow')?.split(', ')), taken);
      }
    if (withSlash.has(path)) continue;
    for (const method of ['GET', 'POST'])
      t.equal((await service.call(method, `${url}/`)).status, 404, `${method} ${path}/`);
  }
  t.same([...withSlash].sort(), ['/a2a', '/mcp'], 'no other path takes a slash');
});
