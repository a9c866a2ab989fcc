import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { type ClientOptions, createClient } from '../../client/client.ts';
import { newIdentity } from '../../client/identity.ts';
import { NoAnswerError, ProblemError, UnreadableReplyError } from '../../client/send.ts';
import { freePort } from '../../harness/free-port.ts';

interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

const CREATED: Reply = { status: 201, body: '{"status":"created"}' };
const DONE: Reply = { status: 200, body: '{"status":"ok"}' };

/** A server that makes credentials, and answers all other requests with `replies`, the last one repeatedly. */
async function startStub(t: Test, ...replies: (Reply | 'hang up')[]) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    paths.push(path);
    if (path === '/api/v1/credentials') return answer(response, CREATED);
    const requestCount = paths.filter((one) => one !== '/api/v1/credentials').length;
    const reply = replies[Math.min(requestCount, replies.length) - 1] ?? DONE;
    if (reply === 'hang up') response.destroy();
    else answer(response, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

function answer(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

const refusal = (status: number, code: string, more: object = {}, headers = {}): Reply => ({
  status,
  headers,
  body: JSON.stringify({
    status: code,
    error: { code, message: 'No.', request_id: 'r1', ...more },
  }),
});

/** A client that does not wait between attempts and records each retry. */
function createHastyClient(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const retries: { message: string; milliseconds: number }[] = [];
  const client = createClient({
    baseUrl,
    identity: newIdentity('hasty'),
    pause: async () => undefined,
    onRetry: ({ message }, milliseconds) => retries.push({ message, milliseconds }),
    ...options,
  });
  return { client, retries };
}

/** The error that a promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

for (const status of [408, 429, 502, 503, 504])
  t.test(`retries after a ${status}`, async (t) => {
    const { url } = await startStub(t, refusal(status, 'later'), DONE);
    const { client, retries } = createHastyClient(url);
    t.match(await client.me(), { status: 'ok' });
    t.equal(retries.length, 1);
  });

t.test('retries after a connection that ends without an answer', async (t) => {
  const { url } = await startStub(t, 'hang up', DONE);
  const { client, retries } = createHastyClient(url);
  t.match(await client.me(), { status: 'ok' });
  t.equal(retries.length, 1);
  t.match(retries[0]?.message, /^no answer from http:\/\/127\.0\.0\.1:\d+ \(.+\)$/);
});

for (const status of [302, 400, 403, 404, 409, 410, 413, 500, 501])
  t.test(`throws a ${status} without a retry`, async (t) => {
    const { url, paths } = await startStub(t, { status, headers: { location: '/elsewhere' } });
    const { client, retries } = createHastyClient(url);
    t.match(await errorOf(client.write('/api/v1/cases', {})), {
      name: 'ProblemError',
      status,
      code: 'unknown',
    });
    t.same(retries, []);
    t.same(paths, ['/api/v1/credentials', '/api/v1/cases']);
  });

t.test('names in the message what a refused request lacks', async (t) => {
  const issues = [
    { path: 'title', message: 'is required' },
    { path: 'lines.0', message: 'is too long' },
  ];
  for (const [reply, words] of [
    [refusal(403, 'scope_required', { scope: 'case:create' }), 'No. Scope: case:create.'],
    [refusal(400, 'invalid_request', { issues }), 'No. title is required; lines.0 is too long'],
    [refusal(400, 'invalid_request', { issues: 'none' }), 'No.'],
    [refusal(400, 'invalid_request', { issues: [null], scope: 7 }), 'No.'],
  ] as const) {
    const { url } = await startStub(t, reply);
    const { client } = createHastyClient(url);
    const { message } = (await errorOf(client.write('/api/v1/cases', {}))) as Error;
    t.match(message, / \d{3} \w+: /);
    t.equal(message.replace(/^.* \d{3} \w+: /, ''), words);
  }
});

t.test('throws a used-up write budget without a retry', async (t) => {
  const used = refusal(429, 'write_budget_exhausted', {}, { 'retry-after': '600' });
  const { url } = await startStub(t, used);
  const { client, retries } = createHastyClient(url);
  t.match(await errorOf(client.write('/api/v1/cases', {})), {
    code: 'write_budget_exhausted',
    retryAfter: 600,
  });
  t.same(retries, []);
});

t.test('gives up without waiting when a limit ends beyond its patience', async (t) => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  const limited = (seconds: number) =>
    refusal(
      429,
      'rate_limited',
      { limit: 3, resets_at: inSeconds(seconds) },
      { 'retry-after': '0' },
    );
  const { url } = await startStub(t, limited(86_000), limited(1), DONE);
  const { client, retries } = createHastyClient(url);
  const refused = await errorOf(client.me());
  t.match(refused, { code: 'rate_limited', message: /The limit ends in 8[56]\d{3} s\.$/ });
  t.ok(((refused as ProblemError).resetsIn ?? 0) > 85_000);
  t.same(retries, []);
  t.match(await client.me(), { status: 'ok' }, 'one that ends soon is waited for');
  t.equal(retries.length, 1);
});

t.test('exposes reason, issues, request id and Retry-After of a refusal', async (t) => {
  const issues = [{ path: 'title', message: 'is missing' }];
  const { url } = await startStub(
    t,
    refusal(409, 'state_conflict', { reason: 'version_mismatch', issues }, { 'retry-after': '7' }),
    { status: 500, headers: { 'x-request-id': 'r2' }, body: '<html>' },
  );
  const { client } = createHastyClient(url);
  const refused = await errorOf(client.write('/api/v1/cases?x=1', {}));
  t.ok(refused instanceof ProblemError);
  t.match(refused, {
    message: `POST ${url}/api/v1/cases: 409 state_conflict (version_mismatch): No.`,
    code: 'state_conflict',
    reason: 'version_mismatch',
    issues,
    requestId: 'r1',
    retryAfter: 7,
  });
  t.match(await errorOf(client.me()), { code: 'unknown', requestId: 'r2', issues: [] });
});

t.test('throws immediately for a 2xx that is not JSON', async (t) => {
  const { url, paths } = await startStub(t, { status: 200, body: '<html>' });
  const { client, retries } = createHastyClient(url);
  const error = await errorOf(client.me());
  t.ok(error instanceof UnreadableReplyError);
  t.match(error, { message: `GET ${url}/api/v1/me: 200 with a body that is not JSON` });
  t.same(retries, []);
  t.equal(paths.length, 2);
});

t.test('rethrows an error of the keeper without a retry', async (t) => {
  const { url, paths } = await startStub(t);
  const fail = () => {
    throw new Error('EACCES: permission denied');
  };
  for (const keeper of [
    { load: fail, save: () => undefined },
    { load: () => undefined, save: fail },
  ]) {
    const { client, retries } = createHastyClient(url, { keeper });
    t.match(await errorOf(client.me()), { message: 'EACCES: permission denied' });
    t.same(retries, []);
  }
  t.same(paths, [], 'no request precedes the save');
});

t.test('refuses an address that is not an http or https origin', async (t) => {
  for (const baseUrl of ['--help', '', 'localhost:3000', 'ftp://localhost', 'http://a:b@localhost'])
    t.throws(() => createHastyClient(baseUrl), { name: 'TypeError' }, baseUrl);
});

t.test('throws programming errors without a retry', async (t) => {
  const { url } = await startStub(t);
  const { client, retries } = createHastyClient(url);
  t.match(await errorOf(client.read('api/v1/me')), {
    name: 'TypeError',
    message: 'The path api/v1/me does not begin with a slash',
  });
  t.match(await errorOf(client.write('/api/v1/cases', {}, 'a\nb')), { name: 'TypeError' });
  const blocked = createHastyClient('http://127.0.0.1:1');
  t.match(await errorOf(blocked.client.me()), { cause: { message: 'bad port' } });
  t.same([...retries, ...blocked.retries], []);
});

t.test('normalizes slashes at the end of the address', async (t) => {
  const { url, paths } = await startStub(t);
  const { client } = createHastyClient(`${url}//`);
  await client.me();
  t.same(paths, ['/api/v1/credentials', '/api/v1/me']);
});

t.test('names the address and the cause when there is no answer', async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { client, retries } = createHastyClient(url, { patience: 10_000 });
  const error = await errorOf(client.register());
  t.ok(error instanceof NoAnswerError);
  t.match(error, { message: `no answer from ${url} (ECONNREFUSED)` });
  t.ok(retries.length > 0);
  for (const { message, milliseconds } of retries) {
    t.equal(message, `no answer from ${url} (ECONNREFUSED)`);
    t.ok(milliseconds > 100);
  }
});

t.test('names a timeout', async (t) => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { client } = createHastyClient(url, { patience: 0, timeout: 50 });
  t.match(await errorOf(client.register()), { message: `no answer from ${url} (timeout)` });
});
