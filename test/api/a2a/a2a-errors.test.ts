import { randomUUID } from 'node:crypto';
import t from 'tap';
import { asking, callA2a, dataPart, sending, VERSION } from '../../../harness/a2a.ts';
import { newAgent } from '../../../harness/agent.ts';
import { rawRequest, sendRaw } from '../../support/raw.ts';
import { startService } from '../../support/service.ts';

const READ = asking('case.list');
const UNKNOWN = '7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f';
const method = (name: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id: 'one',
  method: name,
  params,
});
const push = { taskPushNotificationConfig: { url: 'https://example.org/' } };
const oldPush = { pushNotificationConfig: { url: 'https://example.org/' } };

interface Fault {
  name: string;
  body: unknown;
  code: number;
  status?: number;
  id?: unknown;
  reason?: string;
  closes?: boolean;
  headers?: Record<string, string>;
}

const FAULTS: Fault[] = [
  { name: 'invalid JSON', body: '{', code: -32700, id: null, reason: 'invalid_json' },
  { name: 'a duplicate member', body: '{"id":1,"id":2}', code: -32700, id: null },
  { name: 'a batch', body: [READ, READ], code: -32600, id: null },
  { name: 'a bare value', body: '7', code: -32600, id: null },
  { name: 'null', body: 'null', code: -32600, id: null },
  { name: 'a missing id', body: { ...READ, id: undefined }, code: -32600, id: null },
  { name: 'an id of null', body: { ...READ, id: null }, code: -32600, id: null },
  { name: 'an id that is an object', body: { ...READ, id: {} }, code: -32600, id: null },
  {
    name: 'an id that is too long',
    body: { ...READ, id: 'x'.repeat(257) },
    code: -32600,
    id: null,
  },
  { name: 'an id above the safe integers', body: { ...READ, id: 2 ** 53 }, code: -32600, id: null },
  { name: 'another JSON-RPC version', body: { ...READ, jsonrpc: '1.0' }, code: -32600 },
  { name: 'a method that is not a string', body: { ...READ, method: 7 }, code: -32600 },
  { name: 'an unknown envelope member', body: { ...READ, more: 1 }, code: -32600 },
  { name: 'an unknown method', body: method('message/send'), code: -32601, id: 'one' },
  { name: "an object's own method", body: method('constructor'), code: -32601, id: 'one' },
  { name: 'params in an array', body: { ...READ, params: [] }, code: -32602 },
  {
    name: 'params of null',
    body: { ...method('ListTasks'), params: null },
    code: -32602,
    id: 'one',
  },
  { name: 'no message', body: method('SendMessage'), code: -32602, id: 'one' },
  {
    name: "an agent's message",
    body: sending([{ text: 'x' }], { role: 'ROLE_AGENT' }),
    code: -32602,
  },
  {
    name: 'a message without an id',
    body: sending([dataPart({ operation: 'case.list' })], { messageId: '' }),
    code: -32602,
  },
  { name: 'no parts', body: sending([]), code: -32602 },
  { name: 'an empty part', body: sending([{}]), code: -32602 },
  { name: 'a part with text and data', body: sending([{ text: 'x', data: {} }]), code: -32602 },
  { name: 'a text that is a number', body: sending([{ text: 7 }]), code: -32602 },
  { name: 'data that is not a request', body: sending([dataPart('x')]), code: -32602 },
  {
    name: 'data with an unknown member',
    body: sending([dataPart({ operation: 'case.list', more: 1 })]),
    code: -32602,
  },
  {
    name: 'several data parts',
    body: sending([dataPart({ operation: 'case.list' }), dataPart({ operation: 'case.list' })]),
    code: -32602,
  },
  { name: 'bytes', body: sending([{ raw: 'AAAA' }]), code: -32005 },
  { name: 'a file', body: sending([{ url: 'https://example.org/' }]), code: -32005 },
  {
    name: 'another media type',
    body: sending([{ data: { operation: 'case.list' }, mediaType: 'application/xml' }]),
    code: -32005,
  },
  {
    name: 'a text of another media type',
    body: sending([{ text: 'x', mediaType: 'text/html' }]),
    code: -32005,
  },
  { name: 'a task', body: sending([{ text: 'x' }], { taskId: 'x' }), code: -32001 },
  { name: 'push', body: sending([{ text: 'x' }], {}, { configuration: push }), code: -32003 },
  {
    name: 'push by its old name',
    body: sending([{ text: 'x' }], {}, { configuration: oldPush }),
    code: -32003,
  },
  { name: 'an unknown operation', body: asking('case.steal'), code: -32004 },
  { name: 'a write without a key', body: asking('case.create', {}), code: -32602 },
  { name: 'an invalid idempotency key', body: asking('case.create', {}, 'x'), code: -32602 },
  {
    name: 'a field out of range',
    body: asking('case.list', { limit: 1000 }),
    code: -32602,
    reason: 'invalid_request',
  },
  {
    name: 'a fraction for an integer',
    body: asking('case.list', { limit: 1.5 }),
    code: -32602,
    reason: 'invalid_request',
  },
  { name: 'an unknown field', body: asking('case.list', { colour: 'red' }), code: -32602 },
  { name: 'an array for a scalar field', body: asking('case.list', { limit: [] }), code: -32602 },
  {
    name: 'an invalid cursor',
    body: asking('case.list', { cursor: 'x' }),
    code: -32602,
    reason: 'invalid_cursor',
  },
  {
    name: 'a missing record',
    body: asking('case.read', { case_id: UNKNOWN }),
    code: -32044,
    reason: 'not_found',
  },
  ...['GetTask', 'CancelTask'].map((name) => ({
    name,
    body: method(name, { id: 'x' }),
    code: -32001,
    id: 'one',
  })),
  ...['SendStreamingMessage', 'SubscribeToTask', 'GetExtendedAgentCard'].map((name) => ({
    name,
    body: method(name),
    code: -32004,
    id: 'one',
  })),
  ...['Create', 'Get', 'Delete'].map((verb) => ({
    name: `${verb} push configuration`,
    body: method(`${verb}TaskPushNotificationConfig`),
    code: -32003,
    id: 'one',
  })),
  {
    name: 'push configurations',
    body: method('ListTaskPushNotificationConfigs'),
    code: -32003,
    id: 'one',
  },
  ...['credential.bootstrap', 'credential.rotate', 'credential.revoke', 'account.export'].map(
    (name) => ({ name, body: asking(name), code: -32004 }),
  ),
  { name: 'account.delete', body: asking('account.delete'), code: -32004 },
  { name: 'an operation for moderators', body: asking('moderation.queue'), code: -32004 },
  { name: 'version 0.3', body: READ, code: -32009, headers: { 'a2a-version': '0.3' } },
  { name: 'version 1.1', body: READ, code: -32009, headers: { 'a2a-version': '1.1' } },
  { name: 'a malformed version', body: READ, code: -32009, headers: { 'a2a-version': '1.0.x' } },
  { name: 'an empty version', body: READ, code: -32009, headers: { 'a2a-version': '' } },
  {
    name: 'another content type',
    body: READ,
    code: -32005,
    status: 415,
    id: null,
    headers: { 'content-type': 'text/plain' },
  },
  {
    name: 'a foreign origin',
    body: READ,
    code: -32043,
    id: null,
    reason: 'origin_not_allowed',
    headers: { origin: 'https://example.org' },
  },
  {
    name: 'an unknown bearer',
    body: READ,
    code: -32041,
    status: 401,
    reason: 'credential_not_accepted',
    headers: { authorization: 'Bearer x' },
  },
  {
    name: 'a body above the limit of the endpoint',
    body: JSON.stringify({ ...READ, id: 'x'.repeat(330_000) }),
    code: -32600,
    status: 413,
    id: null,
    reason: 'body_too_large',
    closes: true,
  },
  {
    name: 'a body above the limit of the operation',
    body: asking('case.create', { title: 'x'.repeat(66_000) }, UNKNOWN),
    code: -32600,
    status: 413,
    reason: 'body_too_large',
  },
];

const service = await startService(t);

t.test('answers each fault with its code, HTTP status and the id of the request', async (t) => {
  const agent = await newAgent(service);
  const before = await service.database.pool.query('SELECT count(*)::int FROM events');
  for (const { name, body, code, status = 200, id = 1, reason, closes, headers } of FAULTS) {
    const answer = await callA2a(service, agent, body, headers);
    t.equal(answer.status, status, name);
    t.equal(answer.body.error?.code, code, `${name}: ${answer.text}`);
    t.equal(answer.body.id, id, name);
    t.equal(answer.body.jsonrpc, '2.0');
    t.equal(answer.headers.get('cache-control'), 'no-store');
    t.equal(answer.headers.get('connection'), closes ? 'close' : 'keep-alive', name);
    const info = answer.body.error.data.at(-1);
    t.equal(info['@type'], 'type.googleapis.com/google.rpc.ErrorInfo');
    if (reason) t.match(info, { reason, domain: 'service' }, name);
    if (reason) t.match(info.metadata.http_status, /^4\d\d$/);
    t.match(answer.headers.get('www-authenticate'), status === 401 ? /^Bearer/ : null, name);
  }
  const after = await service.database.pool.query('SELECT count(*)::int FROM events');
  t.same(after.rows, before.rows, 'nothing was written');
});

t.test("names the invalid fields of an operation's input", async (t) => {
  const agent = await newAgent(service);
  const answer = await callA2a(service, agent, asking('case.create', { title: '' }, randomUUID()));
  const [violations] = answer.body.error.data;
  t.equal(violations['@type'], 'type.googleapis.com/google.rpc.BadRequest');
  const fields = violations.fieldViolations.map(({ field }: { field: string }) => field);
  t.ok(['title', 'objective', 'publish_consent'].every((name) => fields.includes(name)));
});

t.test('hides a key that is sent as a field name', async (t) => {
  const agent = await newAgent(service);
  const key = 'ab'.repeat(32);
  for (const body of [
    asking('case.list', { [key]: 1 }),
    sending([dataPart({ operation: 'case.list', [key]: 1 })]),
  ]) {
    const { text } = await callA2a(service, agent, body);
    t.match(text, '(hidden)');
    t.notMatch(text, key);
  }
});

t.test('answers at /a2a/ as at /a2a', async (t) => {
  const agent = await newAgent(service);
  const post = (path: string, authorization: string) =>
    service.call('POST', path, {
      body: asking('credential.me'),
      headers: { ...VERSION, authorization },
    });
  t.equal((await post('/a2a/', agent.authorization)).body.result.message.role, 'ROLE_AGENT');
  for (const path of ['/a2a', '/a2a/']) {
    const refused = await post(path, 'Bearer x');
    t.same([refused.status, refused.body.error.code], [401, -32041], path);
    t.equal((await service.call('GET', path)).headers.get('allow'), 'POST', path);
  }
});

t.test('checks type, version, bearer, JSON, envelope, method, params in this order', async (t) => {
  const agent = await newAgent(service);
  const invalidHeaders = { authorization: 'Bearer x', 'a2a-version': '0.3' };
  const code = async (body: unknown, headers: Record<string, string>) =>
    (await callA2a(service, agent, body, headers)).body.error.code;
  t.equal((await service.call('GET', '/a2a')).status, 405);
  t.equal((await service.call('GET', '/a2a')).headers.get('allow'), 'POST');
  t.equal(
    await code('{', { ...invalidHeaders, 'content-type': 'text/plain' }),
    -32005,
    'type, then version',
  );
  t.equal(await code('{', invalidHeaders), -32009, 'version, then bearer');
  t.equal(await code('{', { authorization: 'Bearer x' }), -32041, 'bearer, then JSON');
  t.equal(await code('{', { 'a2a-version': '0.3' }), -32009, 'version, then JSON');
  t.equal(await code({ id: 1 }, { 'a2a-version': '0.3' }), -32009, 'version, then envelope');
  for (const body of [[READ], '7'])
    t.equal(
      await code(body, { 'a2a-version': '0.3' }),
      -32009,
      'version, then a body that is not a request',
    );
  t.equal(await code({ id: 1, method: 'x' }, {}), -32600, 'envelope, then method');
  t.equal(await code({ ...READ, method: 'x', params: [] }, {}), -32601, 'method, then parameters');
  const { authorization } = agent;
  const versionInQuery = await service.call('POST', '/a2a?A2A-Version=1.0', {
    body: READ,
    headers: { authorization },
  });
  t.ok(versionInQuery.body.result, 'the query may carry the version');
  const questionMark = await service.call('POST', '/a2a?return=?&A2A-Version=1.0', {
    body: READ,
    headers: { authorization },
  });
  t.ok(questionMark.body.result, 'a query may hold a question mark');
  for (const version of ['1.0.0', '1.0.12']) {
    const patchVersion = await callA2a(service, agent, READ, { 'a2a-version': version });
    t.ok(patchVersion.body.result, `${version} is 1.0`);
  }
  const noVersion = await service.call('POST', '/a2a', {
    body: READ,
    headers: { authorization },
  });
  t.equal(noVersion.body.error.code, -32009, 'no version means 0.3');
  t.match(noVersion.body.error.data, [{ metadata: { supported_versions: '1.0' } }]);
  const twoVersions = await service.call('POST', '/a2a?A2A-Version=1.0&A2A-Version=0.3', {
    body: READ,
    headers: { authorization },
  });
  t.equal(twoVersions.body.error.code, -32009, 'two versions are refused');
  const anonymous = await service.call('POST', '/a2a', { body: READ, headers: VERSION });
  t.equal(anonymous.body.error.data[0].reason, 'credential_required');
});

t.test('names a method that nobody can call to a caller without a bearer', async (t) => {
  const post = (body: unknown, headers: Record<string, string> = VERSION) =>
    service.call('POST', '/a2a', { body, headers });
  for (const [name, code] of [
    ['message/send', -32601],
    ['SendStreamingMessage', -32004],
    ['CreateTaskPushNotificationConfig', -32003],
  ] as const) {
    const { status, body } = await post(method(name));
    t.same([status, body.error.code, body.id], [200, code, 'one'], name);
  }
  for (const name of ['SendMessage', 'GetTask', 'ListTasks']) {
    const { status, body } = await post(method(name));
    t.same([status, body.error.code, body.id], [401, -32041, 'one'], name);
  }
  const outdated = await post({ ...READ, id: 7 }, { 'a2a-version': '99.0' });
  t.same([outdated.body.error.code, outdated.body.id], [-32009, 7]);
});

t.test('reads at most 8 KiB of what a caller without a bearer sends', async (t) => {
  const padded = (bytes: number) => {
    const call = JSON.stringify(method('no/such', { text: '' }));
    return call.replace('""', `"${'x'.repeat(bytes - call.length)}"`);
  };
  for (const [bytes, code, id] of [
    [8192, -32601, 'one'],
    [8193, -32041, null],
  ] as const) {
    const sent = { body: padded(bytes), headers: VERSION };
    const { body } = await service.call('POST', '/a2a', sent);
    t.same([body.error.code, body.id], [code, id], `${bytes} bytes`);
    const text = padded(bytes);
    const head = rawRequest('POST', '/a2a', [
      'a2a-version: 1.0',
      'content-type: application/json',
      'transfer-encoding: chunked',
    ]);
    const chunks = `${bytes.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const chunked = await sendRaw(service.baseUrl, head + chunks);
    t.match(chunked, `"code":${code}`, `${bytes} bytes in chunks`);
  }
});

t.test('looks at an input only when its sender may use the operation', async (t) => {
  const reader = await newAgent(service, ['updates:read']);
  const input = { title: 'x'.repeat(100_000), more: Array(500).fill({}) };
  const forbidden = await callA2a(service, reader, asking('case.create', input, UNKNOWN));
  t.match(forbidden.body.error, { code: -32043, data: [{ reason: 'scope_required' }] });
  const agent = await newAgent(service);
  const large = await callA2a(service, agent, asking('case.create', input, UNKNOWN));
  t.equal(large.status, 413, 'the size is checked before the fields');
});

t.test('keeps the errors of an operation, and status 429 for a spent budget', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '1' });
  const reader = await newAgent(service, ['updates:read']);
  const create = {
    title: 'A',
    summary: 'A',
    objective: 'A',
    acceptance_criteria: ['A'],
    visibility: 'public',
    publish_consent: true,
    policy_version: 'service-public-v1',
  };
  const forbidden = await callA2a(service, reader, asking('case.create', create, randomUUID()));
  t.match(forbidden.body.error, { code: -32043, data: [{ reason: 'scope_required' }] });
  t.equal(forbidden.body.error.data[0].metadata.scope, 'case:create');

  const agent = await newAgent(service);
  const key = randomUUID();
  const first = await callA2a(service, agent, asking('case.create', create, key));
  t.equal(first.body.result.message.parts[0].data.status, 201);
  const other = asking('case.create', { ...create, title: 'B' }, key);
  const conflict = await callA2a(service, agent, other);
  t.equal(conflict.status, 200);
  t.match(conflict.body.error, { code: -32049, data: [{ reason: 'idempotency_conflict' }] });
  t.equal(conflict.body.error.data[0].metadata.http_status, '409');
  const spent = await callA2a(service, agent, asking('case.create', create, randomUUID()));
  t.equal(spent.status, 429);
  t.equal(spent.headers.get('retry-after'), '600');
  t.match(spent.body.error, { code: -32042, data: [{ reason: 'write_budget_exhausted' }] });
});

t.test('answers 503 to an operation that is switched off', async (t) => {
  const service = await startService(t, { API_OPEN: 'false' });
  const agent = await newAgent(service);
  const answer = await callA2a(service, agent, READ);
  t.equal(answer.status, 503);
  t.match(answer.body.error, { code: -32053, data: [{ reason: 'api_disabled' }] });
  t.ok((await callA2a(service, agent, asking('credential.me'))).body.result);
});
