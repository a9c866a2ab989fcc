import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createAdmission } from '../../../platform/http/admission.ts';
import { createApp } from '../../../services/compose.ts';
import { startService } from '../../support/service.ts';

/** Places for reads of a process with half a connection: fewer than the service has connections. */
const READS = 7;

/** Serves the same database behind an admission with few places. */
async function startBounded(t: Test) {
  const service = await startService(t);
  const admission = createAdmission(0.5, service.logger);
  const { app, stop } = createApp(service.core, service.logger, { admission });
  const server = createServer((req, res) => void app(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    stop();
    admission.stop();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { headers });
  return { service, url, get };
}

t.test('refuses reads beyond their places, and nothing else', async (t) => {
  const { service, url, get } = await startBounded(t);
  const holder = await service.database.pool.connect();
  await holder.query('BEGIN; LOCK TABLE cases');
  const sent = Array.from({ length: READS + 1 }, () => get('/api/v1/cases'));
  const refused = await Promise.race(sent);
  t.equal(refused.status, 503);
  const wait = Number(refused.headers.get('retry-after'));
  t.ok(wait >= 1 && wait <= 5, `Retry-After: ${wait}`);
  const body = (await refused.json()) as { error: object };
  t.match(body, { status: 'overloaded', error: { code: 'overloaded' } });
  t.match(body.error, { request_id: refused.headers.get('x-request-id') });
  t.same(await (await get('/api/guestbook')).json(), { status: 'overloaded' });
  const page = await get('/search', { accept: 'text/html' });
  t.match(page.headers.get('content-type'), 'text/html');
  t.match(await page.text(), 'Not available at the moment');
  t.equal((await get('/livez')).status, 200);
  t.equal((await get('/readyz')).status, 200);
  t.equal((await fetch(`${url}/api/v1/me/delete`, { method: 'POST' })).status, 415);
  const moderator = { authorization: 'Bearer mod_x' };
  t.equal((await get('/api/moderation/audit', moderator)).status, 401);
  t.ok(service.logged.some((line) => line.includes('"msg":"overloaded"')));

  await holder.query('ROLLBACK');
  holder.release();
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  t.same(statuses.sort(), [...Array(READS).fill(200), 503]);
  t.equal((await get('/api/v1/cases')).status, 200, 'the places are free again');
});

t.test('gives no place to a body that has not arrived', async (t) => {
  const { service, url } = await startBounded(t);
  const { port, hostname } = new URL(url);
  for (let slow = 0; slow < 20; slow++) {
    const socket = connect(Number(port), hostname);
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.write(
      `POST /api/guestbook HTTP/1.1\r\nHost: x\r\nOrigin: ${service.baseUrl}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{`,
    );
  }
  await sleep(300);
  const body = JSON.stringify({ id: randomUUID(), message: 'Hello' });
  const headers = { 'content-type': 'application/json', origin: service.baseUrl };
  const sent = await fetch(`${url}/api/guestbook`, { method: 'POST', headers, body });
  t.equal(sent.status, 202);
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
