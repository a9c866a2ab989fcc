import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import t from 'tap';
import { z } from 'zod';
import { asking, sending, VERSION } from '../../../harness/a2a.ts';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import type { Operation } from '../../../platform/http/invoke.ts';
import { bodyLimit, bodyType, valuesLimit } from '../../../platform/http/read-request.ts';
import { fillPath, isByAuthorization, isForModerators } from '../../../platform/http/route.ts';
import { exampleValue } from '../../../services/protocols/a2a/example-value.ts';
import { offeredOperations } from '../../../services/protocols/a2a/operations.ts';
import { startService } from '../../support/service.ts';
import {
  FEW_VALUES,
  placesIn,
  plainBody,
  replaced,
  TEXTS,
  VALUES,
} from '../../support/worst-inputs.ts';

t.setTimeout(1_200_000);

// The bound of the contract: no input costs more than this many times the processor time of a body of
// the same size that is one string. Requests are repeated until one is fast enough, so that what else
// the machine does matters little.
const MOST = 8;
const MOST_RUNS = 12;

/** The service has no limits here, because each request is to reach what it is about. */
const UNLIMITED = Object.fromEntries(
  [
    'LIMIT_KEY_ATTEMPTS',
    'LIMIT_BOOTSTRAP_ATTEMPTS',
    'LIMIT_REGISTRATIONS_PER_DAY',
    'LIMIT_MEMBERS',
    'LIMIT_WRITES_PER_DAY',
    'LIMIT_NOTES_PER_TEN_MINUTES',
    'LIMIT_NOTES_PER_DAY',
    'LIMIT_MCP_REQUESTS',
  ].map((name) => [name, '1000000']),
);

const service = await startService(t, UNLIMITED);
const member = await signedIn(service);
const agent = await newAgent(service);
const lead = await addModerator(service, 'ann', 'lead');
const connections = new Agent({ keepAlive: true, maxSockets: 1 });
t.teardown(() => connections.destroy());

const ID = '7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f';
const { port } = new URL(service.baseUrl);

interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends a request, and returns the processor time of this process until it was answered. */
function costOf({ method, path, headers, body }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const all = { ...headers, ...(bytes ? { 'content-length': String(bytes.length) } : {}) };
    const before = process.cpuUsage();
    const done = () => {
      const { user, system } = process.cpuUsage(before);
      resolve(user + system);
    };
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers: all, agent: connections },
      (answer) => {
        answer.resume();
        // The stream of moderators does not end.
        if (answer.headers['content-type'] === 'text/event-stream') sent.destroy();
        answer.once('error', () => undefined).once('close', done);
      },
    );
    sent.once('error', reject);
    sent.end(bytes);
  });
}

async function leastOf(sent: Sent, runs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) least = Math.min(least, await costOf(sent));
  return least;
}

/** The headers by which the caller may use an operation, and those that every request to it has. */
function headersOf({ route, id }: Operation): Record<string, string> {
  const { access } = route;
  const cookie = access === 'session' || access === 'session?' ? { cookie: member.cookie } : {};
  const authorization = isForModerators(route)
    ? { authorization: `Bearer ${lead.token}` }
    : isByAuthorization(route)
      ? { authorization: agent.authorization }
      : {};
  return {
    ...cookie,
    ...authorization,
    ...(route.method === 'GET' ? {} : { origin: service.baseUrl }),
    ...(route.body ? { 'content-type': bodyType(route) } : {}),
    ...(route.idempotency ? { 'idempotency-key': randomUUID() } : {}),
    ...(id === 'a2a.call' ? VERSION : {}),
  };
}

const pathOf = ({ route }: Operation): string =>
  fillPath(route, Object.fromEntries(Object.keys(route.params?.shape ?? {}).map((n) => [n, ID])));

/** The values that a schema accepts, one for each of its branches. */
function examplesOf(schema: z.ZodType): unknown[] {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const branches = json.oneOf ?? json.anyOf ?? [json];
  return branches.map((branch) => exampleValue(branch as never, (json.$defs ?? {}) as never));
}

/**
 * The example in which each value in turn is replaced: a text by each bad one, anything by as many
 * values as a body may have; about `bytes` long. Skips the places that another example had.
 */
function* worsened(
  example: unknown,
  { bytes, count }: Size,
  done = new Set<string>(),
): Generator<[string, string]> {
  const rest = bytes - JSON.stringify(example).length - 200;
  for (const place of placesIn(example)) {
    if (done.has(place.join('.'))) continue;
    done.add(place.join('.'));
    for (const [kind, make] of Object.entries(FEW_VALUES))
      yield [`${kind} at ${place.join('.')}`, replaced(example, place, make(rest, count - 100))];
    if (typeof place.reduce((value, name) => (value as never)[name], example) !== 'string')
      continue;
    for (const [kind, make] of Object.entries(TEXTS))
      yield [`${kind} at ${place.join('.')}`, replaced(example, place, textOf(make, rest))];
  }
}

/** What a body may have. */
interface Size {
  bytes: number;
  count: number;
}

/** The JSON of the longest text that has at most `bytes` bytes. */
function textOf(make: (length: number) => string, bytes: number): string {
  const perCharacter = Buffer.byteLength(JSON.stringify(make(100))) / 100;
  return JSON.stringify(make(Math.floor(bytes / perCharacter)));
}

function* bodiesOf(operation: Operation, size: Size): Generator<[string, string]> {
  const { id, route } = operation;
  for (const [kind, make] of Object.entries(VALUES)) {
    yield [kind, `{"a":${make(size.bytes - 10, size.count)}}`];
    yield [`${kind}, and nothing else`, make(size.bytes, size.count)];
  }
  if (id === 'a2a.call') yield* messages(size);
  else if (id === 'mcp.call') yield* calls(size);
  const done = new Set<string>();
  if (route.body && !route.transport)
    for (const example of examplesOf(route.body)) yield* worsened(example, size, done);
}

function* messages(size: Size): Generator<[string, string]> {
  yield* worsened(sending([{ text: 'x' }, { data: { operation: 'x', input: {} } }]), size);
  for (const part of ['{}', '{"text":"x"}', '{"data":{}}', '1']) {
    const parts = `[${Array(Math.floor(size.count / 4))
      .fill(part)
      .join()}]`;
    yield [`parts of ${part}`, replaced(sending([]), ['params', 'message', 'parts'], parts)];
  }
  for (const operation of offeredOperations(service.operations).keys()) {
    const place = ['params', 'message', 'parts', '0', 'data', 'input'];
    const call = asking(operation, {}, ID);
    for (const [kind, make] of Object.entries(FEW_VALUES))
      yield [`${kind} for ${operation}`, replaced(call, place, `{"title":${make(60_000, 800)}}`)];
    const whole = VALUES['most members']?.(size.bytes - 500, size.count - 50) ?? '';
    yield [`whole of members for ${operation}`, replaced(call, place, whole)];
  }
}

function* calls(size: Size): Generator<[string, string]> {
  const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  for (const method of ['no/such', 'ping', 'tools/list', 'initialize', 'prompts/get'])
    yield* worsened(call(method, { _meta: {} }), size);
  for (const [name, field] of [
    ['list_notes', 'cursor'],
    ['search_public', 'query'],
    ['get_case', 'id'],
    ['no_such', 'kind'],
  ] as const)
    yield* worsened(call('tools/call', { name, arguments: { [field]: 'x' } }), size);
  yield* worsened(call('resources/read', { uri: 'service://cases/x' }), size);
  const ref = { type: 'ref/resource', uri: 'service://cases/{id}' };
  yield* worsened(call('completion/complete', { argument: { name: 'id', value: 'x' }, ref }), size);
}

/** Fields of a form, as a browser sends them. */
function* formsOf({ route }: Operation, limit: number): Generator<[string, string]> {
  yield ['many fields', Array.from({ length: limit / 5 }, (_, at) => at.toString(36)).join('&')];
  yield ['one field many times', 'a&'.repeat(limit / 2)];
  yield ['percents', `a=${'%41'.repeat(limit / 3 - 1)}`];
  yield ['broken percents', `a=${'%'.repeat(limit - 2)}`];
  for (const name of Object.keys((route.body as z.ZodObject).shape))
    for (const [kind, make] of Object.entries(TEXTS))
      yield [`${kind} as ${name}`, `${name}=${encoded(make, limit - name.length - 10)}`];
}

/** The longest text that has at most `bytes` bytes in a URL. */
function encoded(make: (length: number) => string, bytes: number): string {
  const perCharacter = encodeURIComponent(make(100).slice(0, 88)).length / 88;
  return encodeURIComponent(
    make(Math.floor(bytes / perCharacter) - 12).replace(/[\ud800-\udfff]/g, 'x'),
  );
}

const QUERY_BYTES = 7000;

function* queriesOf({ route }: Operation): Generator<[string, string]> {
  yield ['many parameters', Array.from({ length: 1500 }, (_, at) => at.toString(36)).join('&')];
  yield ['one parameter many times', 'a&'.repeat(QUERY_BYTES / 2)];
  yield ['broken percents', `a=${'%'.repeat(QUERY_BYTES - 2)}`];
  for (const name of Object.keys(route.query?.shape ?? {}))
    for (const [kind, make] of Object.entries(TEXTS))
      yield [`${kind} as ${name}`, `${name}=${encoded(make, QUERY_BYTES)}`];
}

const HEADER_BYTES = 7000;
const header = (part: string, bytes = HEADER_BYTES) => part.repeat(Math.floor(bytes / part.length));

const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  'many headers': Object.fromEntries(Array.from({ length: 85 }, (_, at) => [`x-${at}`, 'y'])),
  'many cookies': { cookie: header('a=1; ') },
  'empty cookies': { cookie: header(';') },
  'one cookie many times': { cookie: header('__Host-ServiceSession=1;') },
  'a cookie of spaces': { cookie: `a${header(' ')}=1` },
  'many accepted types': { accept: header('text/html;q=0.1,') },
  'spaces in Accept': { accept: `text/html${header(' ')};q` },
  'many encodings': { 'accept-encoding': header('gzip;q=0.1,') },
  'many tags': { 'if-none-match': header('"a",') },
  'a long time': { 'if-modified-since': header('1 ') },
  'a long content type': { 'content-type': `application/json;${header(' a=b;')}` },
  'a long bearer': { authorization: `Bearer ${header('a.')}` },
  'spaces before the bearer': { authorization: `Bearer${header(' ')}a` },
  'a long key': { 'idempotency-key': header('a-') },
  'a long forwarded address': { 'x-forwarded-for': header('1.1.1.1,') },
  'a long trace': { traceparent: header('0-') },
  'a long place in a stream': { 'last-event-id': header('1') },
};

function* requestsTo(operation: Operation): Generator<{ kind: string; plain: Sent; worst: Sent }> {
  const { route } = operation;
  const path = pathOf(operation);
  const headers = headersOf(operation);
  const sent = { method: route.method, path, headers };
  const small = route.body ? { ...sent, body: route.form ? 'a=1' : '{"a":1}' } : sent;

  if (route.body) {
    const limit = bodyLimit(route);
    const plain = { ...sent, body: route.form ? `a=${'x'.repeat(limit - 2)}` : plainBody(limit) };
    const size = { bytes: limit, count: valuesLimit(route) };
    const bodies = route.form ? formsOf(operation, limit) : bodiesOf(operation, size);
    for (const [kind, body] of bodies) yield { kind, plain, worst: { ...sent, body } };
  }
  const plainQuery = { ...small, path: `${path}?a=${'x'.repeat(QUERY_BYTES - 2)}` };
  for (const [kind, query] of queriesOf(operation))
    yield {
      kind: `query: ${kind}`,
      plain: plainQuery,
      worst: { ...small, path: `${path}?${query}` },
    };
  // Without a parameter the operation does its work, and costs what it costs without a query.
  yield {
    kind: 'separators: nothing many times',
    plain: small,
    worst: { ...small, path: `${path}?${'&'.repeat(QUERY_BYTES)}` },
  };
  const plainHeader = { ...small, headers: { ...headers, x: header('x') } };
  for (const [kind, more] of Object.entries(HEADERS))
    yield {
      kind: `headers: ${kind}`,
      plain: plainHeader,
      worst: { ...small, headers: { ...headers, ...more } },
    };
  for (const name of Object.keys(route.params?.shape ?? {}))
    for (const [kind, make] of Object.entries(TEXTS)) {
      const value = encoded(make, 7000);
      yield {
        kind: `path: ${kind} as ${name}`,
        plain: plainQuery,
        worst: { ...small, path: path.replace(ID, () => value) },
      };
    }
}

t.test(
  'costs at most eight times a plain request of the same size, whatever is sent',
  async (t) => {
    const found: { kind: string; ratio: number }[] = [];
    for (const operation of service.operations.values()) {
      const bases = new Map<Sent, number>();
      let requests = 0;
      for (const { kind, plain, worst } of requestsTo(operation)) {
        const base = bases.get(plain) ?? (await leastOf(plain, 6));
        bases.set(plain, base);
        let ratio = (await costOf(worst)) / base;
        // The machine may be slower now than when the base was measured, so both are measured again.
        for (let run = 1; run < MOST_RUNS && ratio > MOST; run++)
          ratio = Math.min(ratio, (await costOf(worst)) / (await leastOf(plain, 3)));
        if (ratio > MOST) found.push({ kind: `${operation.id}: ${kind}`, ratio });
        requests++;
      }
      t.ok(requests > 10, `${operation.id}: ${requests} requests`);
    }
    for (const { kind, ratio } of found) t.fail(`${kind} costs ${ratio.toFixed(1)} times as much`);
  },
);
