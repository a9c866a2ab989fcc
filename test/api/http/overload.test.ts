import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { asking, VERSION } from '../../../harness/a2a.ts';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { createAdmission, type Place } from '../../../platform/http/admission.ts';
import { createApp } from '../../../services/app.ts';
import { seemsModerated } from '../../../services/moderation/staff/sessions.ts';
import { startService } from '../../support/service.ts';

/** Serves the same database behind an admission with places for a pool of `poolSize`. */
async function startBounded(t: Test, poolSize = 1) {
  const service = await startService(t);
  const admission = createAdmission(poolSize, service.logger, seemsModerated);
  const { app, stop } = await createApp(service.core, service.logger, { admission });
  const server = createServer((req, res) => void app(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    stop();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { headers });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const note = () =>
    post('/api/guestbook', { id: randomUUID(), message: 'Hello' }, { origin: service.baseUrl });

  /** Takes all places for requests of this method, and returns how to give them back. */
  function fill(method: 'GET' | 'POST'): () => void {
    const places: Place[] = [];
    try {
      for (;;) {
        const place = admission.placeFor({ method, headers: {} } as IncomingMessage, '/');
        place.enter();
        places.push(place);
      }
    } catch {
      return () => {
        for (const place of places) place.leave();
      };
    }
  }
  return { service, server, url, get, post, note, fill };
}

t.test('refuses reads of storage beyond their places, and nothing else', async (t) => {
  const { service, url, get, note, fill } = await startBounded(t);
  const empty = fill('GET');
  const refused = await get('/api/v1/cases');
  t.equal(refused.status, 503);
  const wait = Number(refused.headers.get('retry-after'));
  t.ok(wait >= 1 && wait <= 5, `Retry-After: ${wait}`);
  const body = (await refused.json()) as { error: object };
  t.match(body, { status: 'overloaded', error: { code: 'overloaded' } });
  t.match(body.error, { request_id: refused.headers.get('x-request-id') });
  const replies = await get(`/api/guestbook?parent_id=${randomUUID()}`);
  t.same(await replies.json(), { status: 'overloaded' });
  for (const path of ['/activity', '/members?cursor=x']) {
    const page = await get(path, { accept: 'text/html' });
    t.equal(page.status, 503);
    t.match(page.headers.get('content-type'), 'text/html');
    const html = await page.text();
    t.match(html, 'Not available at the moment');
    t.match(html, page.headers.get('x-request-id'), 'each refusal has its id');
  }
  t.ok(service.logged.some((line) => line.includes('"msg":"overloaded"')));

  for (const path of ['/livez', '/readyz', '/api/v1/status', '/api/guestbook'])
    t.equal((await get(path)).status, 200, path);
  t.equal((await note()).status, 202);
  t.equal((await fetch(`${url}/api/v1/me/delete`, { method: 'POST' })).status, 415);
  const moderator = { authorization: 'Bearer mod_x' };
  t.equal((await get('/api/moderation/audit', moderator)).status, 401);
  empty();
  t.equal((await get('/api/v1/cases')).status, 200);
});

t.test('refuses writes before anything is done', async (t) => {
  const { service, get, note, fill } = await startBounded(t);
  const empty = fill('POST');
  t.equal((await note()).status, 503);
  t.equal((await get('/api/v1/cases')).status, 200);
  const { rows } = await service.database.pool.query('SELECT count(*)::int AS count FROM notes');
  t.same(rows, [{ count: 0 }]);
  empty();
  t.equal((await note()).status, 202);
});

t.test('refuses callers of the agent protocols with the errors of their protocol', async (t) => {
  const { service, post, fill } = await startBounded(t);
  const { authorization } = await newAgent(service);
  fill('POST');
  const a2a = await post('/a2a', asking('credential.me'), { authorization, ...VERSION });
  t.equal(a2a.status, 503);
  t.match(await a2a.json(), { error: { code: -32053, data: [{ reason: 'overloaded' }] } });
  t.match(a2a.headers.get('retry-after'), /^[1-5]$/);
  const mcp = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  t.equal(mcp.status, 503);
  t.match(await mcp.json(), { jsonrpc: '2.0', error: { code: -32603, message: /too much to do/ } });
  t.match(mcp.headers.get('retry-after'), /^[1-5]$/);
});

t.test('keeps the place of a request while it uses storage', async (t) => {
  const { service, get } = await startBounded(t, 0.1);
  const holder = await service.database.pool.connect();
  await holder.query('BEGIN; LOCK TABLE cases');
  // One place.
  const sent = Array.from({ length: 4 }, () => get('/api/v1/cases'));
  t.match(await (await Promise.race(sent)).json(), { status: 'overloaded' });
  await holder.query('ROLLBACK');
  holder.release();
  await Promise.all(sent);
  t.equal((await get('/api/v1/cases')).status, 200, 'the place is free again');
});

t.test(
  'has few places while requests keep theirs for long, and more again afterwards',
  async (t) => {
    const { logger } = await startService(t);
    let now = 0;
    const admission = createAdmission(1, logger, seemsModerated, () => now);
    const enter = () => {
      const place = admission.placeFor({ method: 'GET', headers: {} } as IncomingMessage, '/');
      place.enter();
      return place;
    };
    /** Takes all places, and gives them back after this time; returns how many there were. */
    function takeAll(ms: number): number {
      const taken: Place[] = [];
      t.throws(
        () => {
          for (;;) taken.push(enter());
        },
        { code: 'overloaded' },
      );
      now += ms;
      for (const place of taken) place.leave();
      return taken.length;
    }
    t.equal(takeAll(100), 10, 'a crowd that is served soon');
    const places = Array.from({ length: 20 }, () => takeAll(1000));
    t.same(
      places,
      places.toSorted((a, b) => b - a),
      'never more while they are slow',
    );
    t.equal(places.at(-1), 2, 'storage keeps some work');
    for (let n = 0; n < 100; n++) enter().leave();
    t.equal(takeAll(0), 10);
  },
);

t.test('gives no place to a body that has not arrived', async (t) => {
  const { service, server, url, note } = await startBounded(t, 0.1);
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: ${new URL(service.baseUrl).host}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{`,
  );
  await once(server, 'request');
  // Until the slow request waits for its body, it counts against a limit and holds the only place.
  let status = 503;
  while (status === 503) {
    await sleep(50);
    ({ status } = await note());
  }
  t.equal(status, 202);
});

t.test('serves health and moderators in a crowd, and keeps all that it accepts', async (t) => {
  const { service, get, post } = await startBounded(t, 0.2);
  const { token } = await addModerator(service, 'Ann');
  const authorization = `Bearer ${token}`;
  const accepted: string[] = [];
  async function write(): Promise<number> {
    const id = randomUUID();
    const body = { id, message: 'Hello' };
    const { status } = await post('/api/guestbook', body, { origin: service.baseUrl });
    if (status === 202) accepted.push(id);
    return status;
  }
  const statusOf = async (path: string) => (await get(path)).status;
  /** Returns the code of a moderator's answer, again where a busy machine has missed the deadline. */
  async function codeForModerator(): Promise<string> {
    for (;;) {
      const answer = await get('/api/moderation/queue', { authorization });
      const { status } = (await answer.json()) as { status: string };
      if (status !== 'storage_unavailable') return status;
    }
  }
  const holder = await service.database.pool.connect();
  await holder.query('BEGIN; LOCK TABLE activity');
  const crowd = Array.from({ length: 100 }, () => [statusOf('/api/v1/activity'), write()]).flat();
  for (let n = 0; n < 5; n++) {
    t.equal(await codeForModerator(), 'ok');
    t.equal(await statusOf('/readyz'), 200);
  }
  await holder.query('ROLLBACK');
  holder.release();
  const statuses = new Set(await Promise.all(crowd));
  t.ok(statuses.has(202) && statuses.has(503));
  t.ok(statuses.isSubsetOf(new Set([200, 202, 503])), [...statuses].join());
  let again = 503;
  while (again === 503) again = await write();
  t.equal(again, 202, 'and then takes all again');
  const { rows } = await service.database.pool.query('SELECT note_id FROM notes');
  t.same(rows.map(({ note_id }) => note_id).sort(), accepted.sort());
});

t.test('answers health from its last samples while no connection is free', async (t) => {
  const service = await startService(t, { DATABASE_POOL_SIZE: '2' });
  const { pool } = service.core.store;
  t.equal((await service.call('GET', '/readyz?for=proxy')).status, 200);
  const held = [await pool.connect(), await pool.connect()];
  t.teardown(() => {
    for (const one of held.splice(0)) one.release();
  });
  for (const path of ['/livez', '/readyz', '/readyz?for=proxy', '/api/v1/status'])
    t.equal((await service.call('GET', path)).status, 200, path);
  t.ok(pool.waitingCount > 0, 'a new sample still waits for a connection');
});

t.test('refuses a second export of a credential before it begins', async (t) => {
  const { service, get } = await startBounded(t);
  const { authorization } = await newAgent(service);
  const read = () => get('/api/v1/me/export', { authorization });
  const holder = await service.database.pool.connect();
  await holder.query('BEGIN; LOCK TABLE artifacts');
  const first = await read();
  t.equal(first.status, 200);
  const second = await read();
  t.equal(second.status, 503);
  t.match(await second.json(), { status: 'overloaded' });
  await holder.query('ROLLBACK');
  holder.release();
  t.match(await first.json(), { status: 'ok' });
  const third = await read();
  t.equal(third.status, 200);
  await third.text();
});
