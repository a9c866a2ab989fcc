import { randomUUID } from 'node:crypto';
import { AgentCard, Role } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import t from 'tap';
import { answered, asking, callA2a, dataPart, sending } from '../../../harness/a2a.ts';
import { newAgent } from '../../../harness/agent.ts';
import { newCase } from '../../../harness/cases.ts';
import { CARD_CHANGED, exampleRequest } from '../../../services/protocols/a2a/card.ts';
import { offeredOperations, operationInput } from '../../../services/protocols/a2a/operations.ts';
import { type Service, startService } from '../../support/service.ts';

async function sdkClient(service: Service, authorization: string) {
  const authenticated: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', authorization);
    return fetch(input, { ...init, headers });
  };
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl: authenticated })],
  });
  return new ClientFactory(options).createFromUrl(service.baseUrl);
}

const request = (value: unknown) => ({
  tenant: '',
  message: {
    messageId: randomUUID(),
    contextId: 'the-context',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [
      {
        content: { $case: 'data' as const, value },
        metadata: undefined,
        filename: '',
        mediaType: 'application/json',
      },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

t.test('lets the client of the SDK read the card, open a case and see refusals', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const client = await sdkClient(service, agent.authorization);
  const key = randomUUID();
  const creation = { operation: 'case.create', idempotency_key: key, input: newCase() };
  const message = await client.sendMessage(request(creation));
  if (!('parts' in message)) throw new Error('the reply is a task');
  t.equal(message.contextId, 'the-context');
  t.equal(message.role, Role.ROLE_AGENT);
  t.same(message.metadata, { untrusted: true }, 'strangers write what a result holds');
  const [part] = message.parts;
  if (part?.content?.$case !== 'data') throw new Error('the reply has no data');
  const { operation, status, replayed, receipt, result } = part.content.value;
  t.same([operation, status, replayed], ['case.create', 201, false]);
  t.equal(receipt.operation_id, key);
  t.equal(result.case.title, newCase().title);

  const again = await client.sendMessage(request(creation));
  if (!('parts' in again)) throw new Error('the reply is a task');
  t.equal(again.messageId, message.messageId, 'a replay has the message id of the first reply');
  const read = await service.call('GET', `/api/v1/cases/${result.case.id}`);
  t.same(read.body.case, result.case);
  await t.rejects(client.sendMessage(request({ operation: 'case.steal' })));
  await t.rejects(client.getTask({ tenant: '', id: 'x' }));
  const stranger = await sdkClient(service, 'Bearer x');
  await t.rejects(stranger.sendMessage(request({ operation: 'credential.me' })));
});

t.test('replays the receipt when a request is retried over the other protocol', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const events = async () =>
    (await service.database.pool.query('SELECT count(*)::int AS n FROM events')).rows[0].n;

  const header = { 'idempotency-key': randomUUID() as string };
  const first = await agent.call('POST', '/api/v1/cases', newCase(), header);
  const count = await events();
  const body = asking('case.create', newCase(), header['idempotency-key'].toUpperCase());
  const crossed = answered(await callA2a(service, agent, body));
  t.same(crossed.result, first.body);
  t.match(crossed, { status: 201, replayed: true, receipt: first.body.receipt });
  t.equal(await events(), count);

  const { id, version } = first.body.case;
  const other = await newAgent(service);
  const key = randomUUID();
  const claim = { expected_version: version, lease_seconds: 600 };
  const claimed = answered(
    await callA2a(service, other, asking('case.claim', { case_id: id, ...claim }, key)),
  );
  t.equal(claimed.replayed, false);
  const before = await events();
  const path = `/api/v1/cases/${id}/claim`;
  const back = await other.call('POST', path, claim, { 'idempotency-key': key });
  t.equal(back.headers.get('idempotency-replayed'), 'true');
  t.same(back.body, claimed.result);
  t.equal(await events(), before);
});

t.test('answers a text message with the list of operations and runs nothing', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const question = { text: 'What can you do?', mediaType: 'text/plain' };
  const answer = await callA2a(service, agent, sending([question]));
  const [text, data] = answer.body.result.message.parts;
  t.match(text.text, /case\.claim/);
  const claim = data.data.operations.find(
    ({ operation }: { operation: string }) => operation === 'case.claim',
  );
  t.match(claim, { writes: true, scope: 'case:claim' });
  const names = data.data.operations.map(({ operation }: { operation: string }) => operation);
  t.same(names.sort(), [...offeredOperations(service.operations).keys()].sort());
  t.ok(answer.body.result.message.contextId, 'the reply names a new context');
  t.notOk(answer.body.result.task);
});

t.test('lists no tasks, with all fields of a page', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const list = (params: object) =>
    callA2a(service, agent, { jsonrpc: '2.0', id: 'x', method: 'ListTasks', params });
  const empty = { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 };
  t.same((await list({})).body.result, empty);
  t.same((await list({ pageSize: 7 })).body.result, { ...empty, pageSize: 7 });
  t.same(
    (await list({ pageSize: null })).body.result,
    empty,
    'ProtoJSON reads null as a missing field',
  );
  t.same(
    (await list({ pageSize: '7' })).body.result,
    { ...empty, pageSize: 7 },
    'ProtoJSON accepts a number as text',
  );
  for (const pageSize of [0, 101, 1.5, '', '0', 'x', '7.5', []])
    t.equal((await list({ pageSize })).body.error.code, -32602, JSON.stringify(pageSize));
});

t.test('treats null in a message like a missing field', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const data = { operation: 'case.list' };
  const part = { data, text: null, raw: null, url: null, mediaType: null, metadata: null };
  const message = { contextId: null, taskId: null, metadata: null, extensions: null };
  const answer = await callA2a(service, agent, sending([part], message, { configuration: null }));
  t.same(answered(answer).result.cases, []);
  t.ok(answer.body.result.message.contextId, 'the reply names a new context');
  const typed = { data, mediaType: 'Application/JSON; charset=utf-8' };
  const empty = await callA2a(service, agent, sending([typed], { contextId: '', role: 1 }));
  t.same(
    answered(empty).result.cases,
    [],
    "accepts an enum's number and a media type with parameters",
  );
  t.ok(empty.body.result.message.contextId, 'an empty string counts as missing');
});

t.test('stores two writes when two members use the same idempotency key', async (t) => {
  const service = await startService(t);
  const body = asking('case.create', newCase(), randomUUID());
  const [one, two] = [
    await callA2a(service, await newAgent(service), body),
    await callA2a(service, await newAgent(service), body),
  ];
  t.same([answered(one).replayed, answered(two).replayed], [false, false]);
  t.not(one.body.result.message.messageId, two.body.result.message.messageId);
});

t.test("offers anonymous reads, the updates feed and the caller's own record", async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const run = async (operation: string, input: object = {}) =>
    answered(await callA2a(service, agent, asking(operation, input))).result;
  t.equal((await run('credential.me')).member.id, agent.id);
  t.equal((await run('status.get')).service, 'responding');
  t.same((await run('guestbook.read', { experience: 'observatory' })).entries, []);
  const page = await run('updates.list', { limit: 1 });
  t.equal(page.events.length, 1);
  const next = await run('updates.list', { limit: '1', cursor: page.next_cursor });
  t.not(next.events[0].id, page.events[0].id);
});

t.test('serves the agent card in wire form and lets caches revalidate it', async (t) => {
  const service = await startService(t);
  const card = await service.call('GET', '/.well-known/agent-card.json');
  t.same(card.body.supportedInterfaces, [
    { url: `${service.baseUrl}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ]);
  t.same(card.body.capabilities, {
    streaming: false,
    pushNotifications: false,
    extendedAgentCard: false,
  });
  t.equal(card.body.securitySchemes.bearer.httpAuthSecurityScheme.scheme, 'Bearer');
  t.same(AgentCard.toJSON(AgentCard.fromJSON(card.body)), card.body);
  const modified = card.headers.get('last-modified') ?? '';
  t.equal(modified, CARD_CHANGED);
  const since = async (headers: Record<string, string>) =>
    (await service.call('GET', '/.well-known/agent-card.json', { headers })).status;
  t.equal(await since({ 'if-modified-since': modified }), 304);
  t.equal(await since({ 'if-modified-since': 'Sat, 12 Sep 2026 00:00:00 GMT' }), 200);
  t.equal(await since({ 'if-modified-since': 'yesterday' }), 200);
  t.equal(await since({ 'if-modified-since': modified, 'if-none-match': '"x"' }), 200);
  t.match(card.headers.get('cache-control'), /public/);
  const headers = { 'if-none-match': card.headers.get('etag') ?? '' };
  t.equal((await service.call('GET', '/.well-known/agent-card.json', { headers })).status, 304);

  const operations = service.operations;
  for (const { id, examples } of card.body.skills) {
    const example = JSON.parse(examples[0]);
    const operation = operations.get(example.operation);
    if (!operation) throw new Error(`${id}: ${example.operation}`);
    const input = operationInput(operation.route, example.input);
    const schema = operation.route.body;
    if (schema)
      t.ok(schema.safeParse(input.body).success, `the example of ${example.operation} is valid`);
  }
});

t.test('runs every example of the agent card for a new member', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const card = await service.call('GET', '/.well-known/agent-card.json');
  for (const { examples } of card.body.skills) {
    const answer = await callA2a(service, agent, sending([dataPart(JSON.parse(examples[0]))]));
    // A new member sees no record that could be reported or proven.
    if (/report\.create|log\.record_proof/.test(examples[0]))
      t.equal(answer.body.error.code, -32044);
    else t.ok(answered(answer).status < 300, examples[0]);
  }
});

interface Shaped {
  shape?: object;
  options?: Shaped[];
}
const namesOf = (schema: Shaped | undefined): string[] => [
  ...Object.keys(schema?.shape ?? {}),
  ...(schema?.options ?? []).flatMap(namesOf),
];

t.test('gives the path, query and body fields of an operation different names', async (t) => {
  const service = await startService(t);
  const operations = [...offeredOperations(service.operations).values()];
  t.ok(operations.length > 15);
  for (const operation of operations) {
    const { id, route } = operation;
    const body = [...new Set(namesOf(route.body as Shaped | undefined))];
    const names = [...namesOf(route.params), ...namesOf(route.query), ...body];
    t.equal(new Set(names).size, names.length, id);
    t.equal(exampleRequest(operation).operation, id);
  }
});
