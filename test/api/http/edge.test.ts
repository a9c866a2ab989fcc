import { randomUUID } from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { createHttpServer } from '../../../platform/http/server.ts';
import { rawRequest, sendRaw } from '../../support/raw.ts';
import { startService } from '../../support/service.ts';

const KEY = 'ab'.repeat(32);
const newNote = () => JSON.stringify({ id: randomUUID(), name: 'Ada', message: 'Hello' });
const post = (baseUrl: string, path: string, headers: string[], body: string) =>
  rawRequest('POST', path, [`origin: ${baseUrl}`, ...headers], body);
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

t.test('answers in the error model where Node would refuse by itself', async (t) => {
  const { baseUrl } = await startService(t);
  const end = 'connection: close\r\n\r\n';
  const withoutHost = await sendRaw(baseUrl, `GET /livez HTTP/1.1\r\n${end}`);
  t.match(withoutHost, /^HTTP\/1\.1 400 /);
  t.match(withoutHost, /\r\nx-request-id: /i);
  t.match(withoutHost, /"status":"invalid_request".*"path":"host","message":"is required"/);
  const http10 = await sendRaw(baseUrl, `GET /livez HTTP/1.0\r\n${end}`);
  t.match(http10, /^HTTP\/1\.1 200 /);
  const http09 = await sendRaw(
    baseUrl,
    `POST /api/guestbook\nHost: ${new URL(baseUrl).host}\nContent-Length: 2\n\n{}`,
  );
  t.match(http09, /not HTTP\/1\.1/);
  t.notMatch(http09, / 202 /);
  t.match((await fetch(`${baseUrl}/livez`)).headers.get('keep-alive') ?? '', 'timeout=95');
  const expecting = await sendRaw(baseUrl, rawRequest('GET', '/livez', ['expect: tea']));
  t.match(expecting, /^HTTP\/1\.1 200 .*\{"status":"ok"\}/s);
  const garbage = await sendRaw(
    baseUrl,
    rawRequest('GET', '/livez', ['content-length: 2', 'content-length: 2']),
  );
  t.match(garbage, /^HTTP\/1\.1 400 .*"issues":\[\{"path":"","message":"not HTTP\/1\.1: /s);
  const connecting = await sendRaw(baseUrl, rawRequest('CONNECT', '/api/v1/status', []));
  t.match(connecting, /^HTTP\/1\.1 405 .*allow: GET, HEAD.*"method_not_allowed"/is);
  t.match(
    await sendRaw(baseUrl, rawRequest('CONNECT', 'example.org:443', [])),
    /^HTTP\/1\.1 404 .*x-request-id/is,
  );
});

t.test('survives CONNECT requests whose callers disconnect', async (t) => {
  const { baseUrl } = await startService(t);
  const { hostname, port } = new URL(baseUrl);
  const tunnel = 'CONNECT example.org:443 HTTP/1.1\r\nhost: localhost\r\n\r\n';
  const keepAlive = rawRequest('GET', '/readyz', []).replace('close', 'keep-alive');
  for (let turn = 0; turn < 40; turn++) {
    const socket = connect(Number(port), hostname);
    const bytes = turn % 2 ? tunnel : keepAlive + tunnel;
    socket.write(bytes, () => setImmediate(() => socket.resetAndDestroy()));
    await new Promise((resolve) => socket.once('close', resolve));
  }
  for (const path of ['/livez', '/readyz', '/nothing']) {
    const before = rawRequest('GET', path, []).replace('close', 'keep-alive');
    const answers = (await sendRaw(baseUrl, before + before + tunnel)).split('HTTP/1.1 ').slice(1);
    t.equal(answers.length, 3, path);
    t.match(answers[2], /^404 .*"status":"not_found"/s);
  }
});

t.test('refuses an invalid request target in the error model', async (t) => {
  const { baseUrl } = await startService(t);
  const answer = await sendRaw(baseUrl, rawRequest('GET', 'http://[bad', []));
  t.match(answer, /^HTTP\/1\.1 404 .*\r\nx-request-id: .*"status":"not_found"/s);
});

t.test('closes the connection of a refused caller that keeps its side open', async (t) => {
  const server = createHttpServer(() => undefined).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  t.teardown(() => socket.destroy());
  socket.write('GARBAGE\r\n\r\n');
  socket.resume();
  await once(socket, 'end');
  const countConnections = () => promisify(server.getConnections).call(server);
  while ((await countConnections()) > 0) await sleep(50);
  t.pass('the server has closed its side');
});

t.test('closes the connection of a caller that stops reading', async (t) => {
  const answer = Buffer.alloc(1_000_000);
  const server = createHttpServer((_req, res) => res.end(answer), false, 500).listen(
    0,
    '127.0.0.1',
  );
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').pause();
  t.teardown(() => socket.destroy());
  const [connection] = await once(server, 'connection');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20));
  await once(connection, 'close');
  t.pass('the server has closed the connection');
});

t.test('refuses control characters in a query before storage sees them', async (t) => {
  const service = await startService(t);
  const moderator = await addModerator(service, 'ann');
  for (const query of ['q=a%00b', 'author=%07', 'q=%C2%9F']) {
    const { status, body } = await moderator.get(`queue?${query}`);
    t.equal(status, 400, query);
    t.equal(body.error.issues[0].message, 'must not have control characters');
  }
  for (const path of ['/api/v1/cases', '/api/v1/activity', '/api/v1/agents'])
    t.equal((await service.call('GET', `${path}?cursor=%00`)).body.status, 'invalid_cursor', path);
});

t.test('answers a complete request whatever bytes follow it', async (t) => {
  const { baseUrl, logged } = await startService(t);
  for (const stray of ['}', '\0', 'FOO / HTTP/1.1\r\n\r\n'])
    for (const connection of ['close', 'keep-alive']) {
      const request = post(baseUrl, '/api/guestbook', [], newNote()).replace('close', connection);
      const answer = await sendRaw(baseUrl, request + stray);
      t.equal(statusOf(answer), 202, JSON.stringify([stray, connection]));
      t.notMatch(answer, /invalid_request/);
    }
  t.notMatch(logged.join(), /internal_error/);
});

/** Resolves when a service of this process has read the head of a request. */
function untilNextRequest(): Promise<void> {
  const name = 'http.server.request.start';
  return new Promise((resolve) => {
    const notice = () => {
      diagnostics.unsubscribe(name, notice);
      resolve();
    };
    diagnostics.subscribe(name, notice);
  });
}

t.test('refuses an incomplete body without reporting an internal error', async (t) => {
  const { baseUrl, logged } = await startService(t);
  const head = `POST /api/guestbook HTTP/1.1\r\nhost: x\r\norigin: ${baseUrl}\r\ncontent-type: application/json\r\n`;
  const chunked = await sendRaw(
    baseUrl,
    `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\nZZ\r\n`,
  );
  t.match(chunked, /^HTTP\/1\.1 400 .*connection: close.*"path":"","message":"not HTTP/is);
  const { hostname, port } = new URL(baseUrl);
  for (const [end, status] of [
    ['destroy', 400],
    ['resetAndDestroy', 499],
  ] as const) {
    const before = logged.length;
    const headRead = untilNextRequest();
    const socket = connect(Number(port), hostname);
    socket.write(`${head}content-length: 100\r\n\r\n{"id"`);
    await headRead;
    socket[end]();
    while (!logged.slice(before).some((line) => line.includes(`"status":${status}`)))
      await sleep(20);
  }
  t.notMatch(logged.join(), /internal_error|"level":"error"/);
});

t.test('logs one ordinary line for each caller that disconnects, at any moment', async (t) => {
  const service = await startService(t);
  const { hostname, port } = new URL(service.baseUrl);
  const agent = await newAgent(service);
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const bearer = `authorization: ${agent.authorization}`;
  const before = service.logged.length;
  // A caller may disconnect before its request has been read.
  let arrived = 0;
  const count = () => arrived++;
  diagnostics.subscribe('http.server.request.start', count);
  t.teardown(() => void diagnostics.unsubscribe('http.server.request.start', count));
  const requests = [
    rawRequest('POST', '/mcp', [], body),
    rawRequest('POST', '/a2a', [bearer], body),
    rawRequest('GET', '/api/v1/me/export', [bearer]),
  ];
  for (let turn = 0; turn < 60; turn++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.write(requests[turn % 3] ?? '', resolve));
    await sleep(turn % 10);
    socket.resetAndDestroy();
  }
  const requestLines = () => service.logged.slice(before).map((line) => JSON.parse(line));
  while (requestLines().length < arrived) await sleep(50);
  // A second export beside the first, which may not have noticed yet that its caller has gone, is
  // refused as `overloaded`; such lines are minor.
  const levelOf = ({ code }: { code?: string }) => (code === 'overloaded' ? 'debug' : 'info');
  t.same(
    requestLines().filter((line) => line.msg !== 'request' || line.level !== levelOf(line)),
    [],
  );
  t.equal(requestLines().length, arrived);
  t.ok(arrived > 30, `${arrived} requests have arrived`);
});

t.test('delivers the refusal of a large body to a caller that sends before reading', async (t) => {
  const { baseUrl } = await startService(t);
  const body = 'x'.repeat(4_000_000);
  for (const [type, status] of [
    ['application/json', 413],
    ['text/plain', 415],
  ] as const)
    for (let turn = 0; turn < 5; turn++) {
      const headers = { 'content-type': type, origin: baseUrl };
      const answer = await fetch(`${baseUrl}/api/guestbook`, { method: 'POST', headers, body });
      t.equal(answer.status, status);
      t.equal(answer.headers.get('connection'), 'close');
      await answer.text();
    }
});

t.test('asks a caller for the body only where it does not refuse the request before', async (t) => {
  const { baseUrl } = await startService(t);
  const body = newNote();
  const send = async (length: number, sent: string) => {
    const headers = ['content-type: application/json', `content-length: ${length}`];
    const expecting = [`origin: ${baseUrl}`, 'expect: 100-continue', ...headers];
    const request = rawRequest('POST', '/api/guestbook', expecting);
    const answer = await sendRaw(baseUrl, `${request}${sent}`);
    return [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  };
  t.same(await send(4_000_000, ''), ['413']);
  t.same(await send(Buffer.byteLength(body), body), ['100', '202']);
});

t.test('limits the size and number of headers as on the wire, without the target', async (t) => {
  const { baseUrl } = await startService(t);
  const rest = 'host: localhost\r\nconnection: close\r\nx: \r\n'.length;
  for (const target of ['/livez', `/livez?${'q'.repeat(7000)}`])
    for (const [bytes, status] of [
      [8192, target === '/livez' ? 200 : 400],
      [8193, 431],
    ] as const) {
      const answer = await sendRaw(
        baseUrl,
        rawRequest('GET', target, [`x: ${'y'.repeat(bytes - rest)}`]),
      );
      t.equal(statusOf(answer), status, `${bytes} after ${target.length}`);
    }
  // Plus `host` and `connection`.
  for (const [count, status] of [
    [98, 200],
    [99, 431],
  ] as const) {
    const answer = await sendRaw(
      baseUrl,
      rawRequest('GET', '/livez', Array<string>(count).fill('x: y')),
    );
    t.equal(statusOf(answer), status, `${count} more`);
  }
});

t.test('accepts a header that describes a body only once', async (t) => {
  const { baseUrl } = await startService(t);
  const body = newNote();
  const headers = [
    `origin: ${baseUrl}`,
    'content-type: application/json',
    'content-encoding: identity',
    `idempotency-key: ${randomUUID()}`,
  ];
  const size = `content-length: ${Buffer.byteLength(body)}`;
  const submitWith = (more: string[]) =>
    sendRaw(baseUrl, rawRequest('POST', '/api/guestbook', [...headers, ...more, size]) + body);
  for (const header of ['host: localhost', ...headers.slice(1)])
    t.match(await submitWith([header]), /^HTTP\/1\.1 400 .*"message":"must be sent once"/s, header);
  t.equal(statusOf(await submitWith([])), 202);
});

t.test('refuses two Authorization headers on a mutation before other checks', async (t) => {
  const { baseUrl, call } = await startService(t);
  const { paths } = (await call('GET', '/openapi.json')).body;
  const repeated = ['authorization: Bearer a', 'authorization: Bearer b'];
  const refused = async (path: string, more: string[], body: string, code: string) => {
    const answer = await sendRaw(baseUrl, rawRequest('POST', path, [...repeated, ...more], body));
    t.equal(statusOf(answer), 401, path);
    t.match(answer, new RegExp(`"status":"${code}"`));
    t.match(paths[path].post.responses['401'].description, code, 'the code is documented');
  };
  await refused('/api/guestbook', [], newNote(), 'credential_not_accepted');
  await refused('/api/membership/logout', [], '{}', 'credential_not_accepted');
  await refused('/api/v1/me/profile', ['origin: http://x'], '{}', 'credential_not_accepted');
  await refused('/api/v1/me/profile', ['content-encoding: gzip'], '{}', 'credential_not_accepted');
  await refused('/api/moderation/claims', [], '{}', 'moderator_required');
});

t.test('refuses repeated headers on a read only where they matter', async (t) => {
  const service = await startService(t);
  const { baseUrl } = service;
  const repeated = [
    ...['authorization: Bearer a', 'authorization: Bearer b'],
    ...['origin: http://x', 'origin: http://y', 'sec-fetch-site: none', 'sec-fetch-site: none'],
  ];
  const get = (path: string) => sendRaw(baseUrl, rawRequest('GET', path, repeated));
  for (const path of ['/api/v1/agents', '/api/guestbook', '/openapi.json', '/'])
    t.equal(statusOf(await get(path)), 200, path);
  t.match(
    await get('/api/membership/me'),
    /^HTTP\/1\.1 401 .*set-cookie: __Host-ServiceSession=;.*"session_required"/is,
  );
  for (const path of ['/api/v1/me', '/api/v1/me/export'])
    t.match(await get(path), /^HTTP\/1\.1 401 .*"credential_not_accepted"/s, path);
  t.match(await get('/api/moderation/queue'), /^HTTP\/1\.1 401 .*"moderator_required"/s);
  const bearer = `authorization: ${(await newAgent(service)).authorization}`;
  const me = (...headers: string[]) => sendRaw(baseUrl, rawRequest('GET', '/api/v1/me', headers));
  t.equal(statusOf(await me(bearer)), 200);
  t.match(
    await me(bearer, bearer),
    /"credential_not_accepted"/,
    'the same bearer twice is refused',
  );
});

t.test('accepts a bearer without Origin and refuses foreign origins and sites', async (t) => {
  const { baseUrl } = await startService(t);
  const post = (...headers: string[]) =>
    sendRaw(baseUrl, rawRequest('POST', '/api/v1/me/profile', headers));
  for (const header of ['origin: https://elsewhere.example', 'origin: null', `origin: ${baseUrl}/`])
    t.match(await post(header), /^HTTP\/1\.1 403 .*"origin_not_allowed"/s, header);
  for (const site of ['cross-site', 'same-site', 'none'])
    t.match(await post(`sec-fetch-site: ${site}`), /^HTTP\/1\.1 403 .*"fetch_site_not_allowed"/s);
  for (const headers of [[], [`origin: ${baseUrl}`], ['sec-fetch-site: same-origin']])
    t.match(await post(...headers), /^HTTP\/1\.1 415 /, headers.join());
  const cookie = 'cookie: __Host-ServiceModerator=x';
  const claim = (...headers: string[]) =>
    sendRaw(baseUrl, rawRequest('POST', '/api/moderation/claims', headers));
  t.equal(statusOf(await claim(cookie)), 403);
  t.equal(
    statusOf(await claim(cookie, 'authorization: Bearer x')),
    415,
    'a bearer takes precedence over a cookie',
  );
});

t.test('answers preflights of anonymous reads of the API, and no others', async (t) => {
  const service = await startService(t);
  const ask = (path: string, headers: Record<string, string> = {}) =>
    service.call('OPTIONS', path, {
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'if-none-match',
        ...headers,
      },
    });
  const id = '7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f';
  let answered = 0;
  for (const { route } of service.operations.values()) {
    const path = route.path.replace(/:[a-z_]+/g, id);
    const isRead = route.method === 'GET' && route.access === 'public';
    const isOpen =
      (path.startsWith('/api/v1/') || path === '/api/guestbook') &&
      !['/api/v1/discovery', '/api/v1/status'].includes(path);
    if (route.method !== 'GET') continue;
    const { status, headers } = await ask(path);
    t.equal(status, isRead && isOpen ? 204 : 405, path);
    t.equal(headers.get('access-control-allow-origin'), status === 204 ? '*' : null, path);
    t.equal(headers.get('access-control-allow-credentials'), null, path);
    if (status === 204) {
      t.equal(headers.get('access-control-allow-headers'), 'If-None-Match', path);
      t.equal(headers.get('access-control-allow-methods'), 'GET, HEAD', path);
      answered++;
    } else t.match(headers.get('allow'), 'GET', path);
  }
  t.ok(answered > 8, 'the reads of the API');
  t.equal((await ask('/api/v1/cases', { 'access-control-request-method': 'POST' })).status, 405);
  t.equal((await service.call('OPTIONS', '/api/v1/cases')).status, 405, 'no preflight');
});

t.test('lets pages of other origins read the headers of anonymous reads only', async (t) => {
  const service = await startService(t);
  const exposed = async (path: string) =>
    (await service.call('GET', path)).headers.get('access-control-expose-headers');
  for (const path of ['/api/guestbook', '/api/v1/cases', '/api/v1/discovery', '/openapi.json'])
    t.equal(
      await exposed(path),
      'Link, ETag, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, X-Contract-Version',
      path,
    );
  for (const path of ['/api/membership/me', '/api/v1/me', '/api/moderation/queue', '/'])
    t.equal(await exposed(path), null, path);
});

t.test('names the expected origin where a request needs one', async (t) => {
  const { baseUrl, call } = await startService(t);
  const refusalOf = async (path: string, origin: string) => {
    const headers = { origin, host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    return (await call('POST', path, { body: {}, headers })).body.error;
  };
  for (const origin of ['http://localhost:1', 'https://evil.example', 'null'])
    t.match(await refusalOf('/api/guestbook', origin), {
      code: 'origin_not_allowed',
      expected_origin: baseUrl,
    });
  const optional = await refusalOf('/api/v1/me/profile', 'https://evil.example');
  t.match(optional, { code: 'origin_not_allowed' });
  t.notOk('expected_origin' in optional, 'a missing origin is accepted there');
});

t.test('takes no body for an empty object where all fields are optional', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const send = (path: string, more: string[] = [], body = '') =>
    sendRaw(
      service.baseUrl,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${[
        `authorization: ${agent.authorization}`,
        `idempotency-key: ${randomUUID()}`,
        ...more,
      ].join('\r\n')}\r\n\r\n${body}`,
    );
  const withdraw = '/api/v1/me/profile/withdraw';
  const json = 'content-type: application/json';
  t.equal(statusOf(await send(withdraw)), 409, 'no profile to withdraw');
  t.equal(statusOf(await send(withdraw, ['content-length: 0'])), 409);
  t.equal(statusOf(await send(withdraw, [json, 'content-length: 0'])), 409);
  t.equal(statusOf(await send(withdraw, [json, 'transfer-encoding: chunked'], '0\r\n\r\n')), 409);
  t.equal(statusOf(await send(withdraw, ['content-type: text/plain'])), 415);
  t.equal(statusOf(await send(withdraw, ['content-length: 2'], '{}')), 415, 'a body has a type');
  t.equal(statusOf(await send('/api/v1/cases')), 415, 'fields are required');
  t.equal(statusOf(await send('/api/v1/cases', [json, 'content-length: 0'])), 400);
  const logout = { body: '', headers: { 'content-type': 'application/json' } };
  t.equal((await service.call('POST', '/api/membership/logout', logout)).status, 400);
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  t.equal(paths[withdraw].post.requestBody.required, false);
  t.equal(paths['/api/v1/cases'].post.requestBody.required, true);
  t.equal(paths['/api/membership/logout'].post.requestBody.required, true);
});

t.test('says which encoding a compressed body could have had', async (t) => {
  const { call } = await startService(t);
  const send = (headers: Record<string, string>) =>
    call('POST', '/api/guestbook', { body: newNote(), headers });
  const encoded = await send({ 'content-type': 'application/json', 'content-encoding': 'gzip' });
  t.same([encoded.status, encoded.headers.get('accept-encoding')], [415, 'identity']);
  t.equal((await send({ 'content-type': 'text/plain' })).headers.get('accept-encoding'), null);
});

t.test('leads from the address of the form to the guestbook', async (t) => {
  const { call } = await startService(t);
  const answer = await call('GET', '/guestbook');
  t.same([answer.status, answer.headers.get('location')], [308, '/']);
});

t.test('hides a key that is sent as a field name', async (t) => {
  const { call } = await startService(t);
  const texts = [
    `{"${KEY}": 1}`,
    `{"${KEY}": "\\u0001"}`,
    `{"${KEY}": 1e400}`,
    `{"a": {"${KEY}": "\\ud800"}}`,
  ];
  for (const text of texts) {
    const answer = await call('POST', '/api/membership/login', {
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    t.equal(answer.status, 400, text);
    t.match(answer.text, /hidden/);
    t.notMatch(answer.text, new RegExp(KEY.slice(0, 16)));
  }
  const answer = await call('GET', `/api/v1/status?${KEY}=1`);
  t.equal(answer.status, 400);
  t.notMatch(answer.text, new RegExp(KEY.slice(0, 16)));
});

t.test('accepts parameters of a content type and checks only the charset', async (t) => {
  const { baseUrl } = await startService(t);
  for (const [type, status] of [
    ['application/json; foo=bar', 202],
    ['Application/JSON ; Charset="UTF-8"; a="b;c"', 202],
    ['application/json;', 202],
    ['application/json; charset=latin1', 415],
    ['application/json; charset', 202],
    ['application/json; charset=', 415],
    ['application/json; charset=utf-8; charset=latin1', 415],
    ['application/jsonp', 415],
    [`application/json; a="${'b'.repeat(234)}"`, 202],
    [`application/json; a="${'b'.repeat(235)}"`, 415],
    [`application/json;${' '.repeat(7000)}a=b`, 415],
    ['json', 415],
  ] as const) {
    const headers = { 'content-type': type, origin: baseUrl };
    const answer = await fetch(`${baseUrl}/api/guestbook`, {
      method: 'POST',
      headers,
      body: newNote(),
    });
    t.equal(answer.status, status, type);
  }
});

t.test('refuses a body in an unsupported transfer coding', async (t) => {
  const { baseUrl } = await startService(t);
  for (const coding of ['gzip, chunked', 'x, chunked']) {
    const body = newNote();
    const chunks = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const headers = [
      `origin: ${baseUrl}`,
      'content-type: application/json',
      `transfer-encoding: ${coding}`,
    ];
    const answer = await sendRaw(baseUrl, rawRequest('POST', '/api/guestbook', headers) + chunks);
    t.equal(statusOf(answer), 415, coding);
  }
});

t.test('refuses an undecodable path id and ignores a query on submission', async (t) => {
  const { call } = await startService(t);
  t.equal((await call('GET', '/api/v1/cases/%zz')).body.status, 'invalid_request');
  t.equal((await call('GET', '/api/v1/nothing/%zz')).body.status, 'not_found');
  t.equal((await call('POST', '/api/guestbook?utm=1', { body: newNote() })).status, 202);
});

t.test('sends HSTS only from public addresses', async (t) => {
  for (const [base, expectsHsts] of [
    ['https://example.org', true],
    ['https://localhost:8443', false],
  ] as const) {
    const { call } = await startService(t, { BASE_URL: base });
    const { headers } = await call('GET', '/livez');
    t.equal(headers.has('strict-transport-security'), expectsHsts, base);
  }
});
