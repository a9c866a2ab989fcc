import { specTypeSchemas } from '@modelcontextprotocol/server';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, submit } from '../../../harness/moderation.ts';
import { publishArtifact, publishCase } from '../../../harness/records.ts';
import { isMutation } from '../../../platform/http/route.ts';
import { createCallers } from '../../support/callers.ts';
import { startService } from '../../support/service.ts';

/** The operation that each tool reads. */
const TOOLS: Record<string, string> = {
  get_discovery: 'discovery.get',
  get_status: 'status.get',
  list_notes: 'guestbook.read',
  get_note: 'guestbook.get',
  list_members: 'agents.list',
  get_member: 'agents.get',
  list_artifacts: 'artifacts.list',
  get_artifact: 'artifacts.get',
  list_cases: 'case.list',
  get_case: 'case.read',
  list_activity: 'activity.list',
  search_public: 'search.public',
};

/** Resources without an id. */
const FIXED = ['service://discovery', 'service://status'];

/** Parameters for each method of the protocol; null for one that the service does not have. */
const METHODS: Record<string, object | null> = {
  ping: {},
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
  'server/discover': {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
  'completion/complete': {
    ref: { type: 'ref/resource', uri: 'service://members/{id}' },
    argument: { name: 'id', value: '' },
  },
  'prompts/get': { name: 'introduce_service' },
  'prompts/list': {},
  'resources/list': {},
  'resources/templates/list': {},
  'resources/read': { uri: 'service://status' },
  'tools/call': { name: 'get_status', arguments: {} },
  'tools/list': {},
  'logging/setLevel': null,
  'resources/subscribe': null,
  'resources/unsubscribe': null,
  'subscriptions/listen': null,
};

/** `server/discover` exists in the newer revision only. */
const MODERN = { 'mcp-protocol-version': '2026-07-28' };

t.test('a caller with a session or a bearer is answered as an anonymous one', async (t) => {
  const service = await startService(t, { LIMIT_MCP_REQUESTS: '100000' });
  const owner = await newAgent(service);
  const packet = await publishArtifact(owner);
  await owner.call('POST', `${packet.path}/withdraw`, {});
  const opened = await publishCase(owner);
  const moderator = await addModerator(service, 'Mod');
  const removal = { action: 'remove', policy: 'spam', expected_version: 1 };
  t.equal((await moderator.post(`subjects/case/${opened.id}/decisions`, removal)).status, 201);
  const notes = (await submit(service)).id;
  /** A profile that was not published, a withdrawn packet, a removed case, and a note that waits for review. */
  const hidden = { members: owner.id, artifacts: packet.id, cases: opened.id, notes };
  const [anonymous, ...callers] = await createCallers(service);
  const { authorization } = owner;
  const everybody = [...callers, { name: 'the owner', headers: { authorization } }];
  const ask = async (method: string, params: object, headers: Record<string, string> = {}) => {
    const answer = await service.call('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method, params },
      headers: '_meta' in params ? { ...headers, ...MODERN, 'mcp-method': method } : headers,
    });
    const text = answer.text.replace(/"request_id":"[^"]*"/g, '');
    return { ...answer, text };
  };
  const compare = async (method: string, params: object, label = method) => {
    const expected = await ask(method, params, anonymous?.headers);
    const unlike: string[] = [];
    for (const { name, headers } of everybody) {
      const found = await ask(method, params, headers);
      const alike = found.status === expected.status && found.text === expected.text;
      if (!alike || found.headers.has('set-cookie') || found.headers.has('www-authenticate'))
        unlike.push(`${name}: ${found.status} ${found.text}`);
    }
    t.same(unlike, [], label);
    return expected.body;
  };

  const known = specTypeSchemas.ClientRequest as unknown as {
    options: { shape: { method: { value: string } } }[];
  };
  t.same(known.options.map(({ shape }) => shape.method.value).sort(), Object.keys(METHODS).sort());
  for (const [method, params] of Object.entries(METHODS)) {
    const { error } = await compare(method, params ?? {});
    t.equal(error?.code, params ? undefined : -32601, method);
  }

  const { body: listed } = await ask('tools/list', {});
  t.same(
    listed.result.tools.map(({ name }: { name: string }) => name).sort(),
    Object.keys(TOOLS).sort(),
  );
  for (const [name, operation] of Object.entries(TOOLS)) {
    const route = service.operations.get(operation)?.route;
    t.ok(route && route.access === 'public' && !isMutation(route), `${name} reads what is public`);
    const records = `${name.replace('get_', '')}s` as keyof typeof hidden;
    const given = name === 'search_public' ? { query: owner.handle } : {};
    const args = records in hidden ? { id: hidden[records] } : given;
    const { result } = await compare('tools/call', { name, arguments: args }, name);
    t.equal(result.isError ?? false, records in hidden, name);
  }

  const { body: templates } = await ask('resources/templates/list', {});
  const { body: resources } = await ask('resources/list', {});
  const uris = [...templates.result.resourceTemplates, ...resources.result.resources].map(
    ({ uriTemplate, uri }) => uriTemplate ?? uri,
  );
  const expected = [...Object.keys(hidden).map((kind) => `service://${kind}/{id}`), ...FIXED];
  t.same(uris.sort(), expected.sort());
  for (const uri of uris) {
    const [, kind] = /^service:\/\/(\w+)\/\{id\}$/.exec(uri) ?? [];
    const id = kind && hidden[kind as keyof typeof hidden];
    const { error } = await compare('resources/read', { uri: id ? uri.replace('{id}', id) : uri });
    t.equal(error?.code, id ? -32602 : undefined, uri);
  }
});
