import { readFileSync } from 'node:fs';
import t from 'tap';
import manifest from '../../../package.json' with { type: 'json' };
import { type Service, startService } from '../../support/service.ts';

interface Link {
  href: string;
  type?: string;
}

/** Reads a path of this service, or its whole address. */
const read = (service: Service, address: string, headers = {}) =>
  service.call('GET', address.replace(service.baseUrl, ''), { headers });

t.test('lists in the catalog only addresses that answer with the type it names', async (t) => {
  const service = await startService(t);
  const catalog = await service.call('GET', '/.well-known/api-catalog');
  t.equal(
    catalog.headers.get('content-type'),
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  );
  t.match(catalog.headers.get('link'), /<\/\.well-known\/api-catalog>; rel="api-catalog"/);
  const { linkset } = JSON.parse(catalog.text) as { linkset: Record<string, unknown>[] };
  t.equal(linkset[0]?.anchor, `${service.baseUrl}/.well-known/api-catalog`);
  const [{ href: api }] = (linkset[0]?.item ?? [{ href: '' }]) as [Link];
  const described = linkset.find(({ anchor }) => anchor === api) ?? {};
  t.same(Object.keys(described).sort(), ['anchor', 'service-desc', 'service-doc', 'status']);
  for (const links of Object.values(described).filter((value) => Array.isArray(value)))
    for (const { href, type } of links as Link[]) {
      const answer = await read(service, href);
      t.equal(answer.status, 200, href);
      t.match(answer.headers.get('content-type'), type, href);
    }
});

t.test('links from the first documents to what describes the service', async (t) => {
  const service = await startService(t);
  for (const path of [
    '/',
    '/docs',
    '/docs/cases',
    '/developers',
    '/for-agents',
    '/api/v1/discovery',
  ])
    for (const method of ['GET', 'HEAD']) {
      const header = (await service.call(method, path)).headers.get('link') ?? '';
      const links = [...header.matchAll(/<([^>]+)>; rel="([^"]+)"; type="([^"]+)"/g)];
      t.same(
        links.map(([, , relation]) => relation),
        ['service-desc', 'service-doc', 'status', 'api-catalog'],
        `${method} ${path}`,
      );
      for (const [, target = '', , type = ''] of links)
        t.match((await read(service, target)).headers.get('content-type'), type, target);
    }
});

t.test('leads from the first page to the page for developers, and from there on', async (t) => {
  const service = await startService(t);
  t.match((await service.call('GET', '/')).text, '<a href="/developers">');
  const page = await service.call('GET', '/developers');
  t.match(page.text, /<h1>For developers<\/h1>/);
  const linked = new Set(
    [...page.text.matchAll(/href="(\/[^"]*|http[^"]+)"/g)].map(([, to]) => to),
  );
  t.ok(linked.size > 15);
  for (const to of linked) {
    const { pathname, search } = new URL((to ?? '').replaceAll('&amp;', '&'), service.baseUrl);
    const { status } = await service.call('GET', pathname + search);
    t.equal(status, pathname === '/mcp' ? 405 : 200, pathname);
  }
  const silent = await startService(t, { A2A_ENABLED: 'false' });
  t.notMatch((await silent.call('GET', '/developers')).text, /A2A/);
});

t.test('describes to agents the operations that a bearer can call, and no other', async (t) => {
  const service = await startService(t);
  const [whole, agents] = await Promise.all(
    ['/openapi.json', '/openapi-agents.json'].map((path) => service.call('GET', path)),
  );
  const operationsOf = (document: { paths: Record<string, Record<string, object>> }) =>
    new Map(
      Object.entries(document.paths).flatMap(([path, item]) =>
        Object.entries(item).map(
          ([method, operation]) => [`${method} ${path}`, operation] as [string, object],
        ),
      ),
    );
  const [all, some] = [operationsOf(whole?.body), operationsOf(agents?.body)];
  t.ok(some.size > 35 && some.size < 60, `${some.size} of ${all.size} operations`);
  t.ok((agents?.text.length ?? 0) < (whole?.text.length ?? 0) / 2);
  for (const [name, operation] of some) {
    const { security: _, ...rest } = operation as { security: unknown };
    const { security: __, ...original } = all.get(name) as { security: unknown };
    t.same(rest, original, String(name));
    t.notMatch(name, /moderation|session|passkey|\.json|\.atom/);
  }
  for (const name of [
    'post /api/membership/register',
    'post /api/v1/credentials',
    'post /api/v1/me/credentials/rotate',
    'post /api/v1/artifacts',
    'post /api/v1/cases/{case_id}/claim',
    'get /api/v1/updates',
    'post /api/guestbook',
    'get /api/guestbook',
    'post /api/v1/me/delete',
  ])
    t.ok(some.has(name), `${name} is there`);
  const { components } = agents?.body ?? {};
  const references = [...(agents?.text ?? '').matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)];
  for (const [, kind = '', name = ''] of references) t.ok(components[kind]?.[name], name);
  const used = new Set(references.map(([, kind, name]) => `${kind}/${name}`));
  for (const kind of ['schemas', 'responses', 'headers'])
    for (const name of Object.keys(components[kind]))
      t.ok(used.has(`${kind}/${name}`), `${kind}/${name} is used`);
});

t.test('has the guide and each operation of agents in llms-full.txt', async (t) => {
  const service = await startService(t);
  const { text } = await service.call('GET', '/llms-full.txt');
  const { paths } = (await service.call('GET', '/openapi-agents.json')).body;
  t.match(text, /^# For agents/);
  for (const [path, item] of Object.entries(paths as object))
    for (const method of Object.keys(item)) {
      const title = `## ${method.toUpperCase()} ${path}`;
      t.ok(text.includes(`${title}\n`), title);
    }
  t.notMatch(text, /\[object|\{base_url\}/);
  t.notMatch(text, /\/api\/moderation\//);
});

t.test('keeps the template for the registry of MCP servers within its rules', async (t) => {
  const service = await startService(t);
  const template = JSON.parse(
    readFileSync(new URL('../../../deploy/server.json', import.meta.url), 'utf8'),
  );
  t.equal(template.version, manifest.version);
  t.match(template.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  t.ok(template.description.length <= 100 && template.title.length <= 100);
  const [remote] = template.remotes;
  t.equal(remote.type, 'streamable-http');
  const { pathname } = new URL(remote.url);
  const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
  t.equal((await service.call('POST', pathname, { body })).status, 200);
  t.equal((await service.call('GET', new URL(template.websiteUrl).pathname)).status, 200);
});
