import { type ChildProcess, spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import {
  type Agent,
  bootstrap,
  newAgent,
  newCredential,
  toAuthorization,
} from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import { freePort } from '../../../harness/free-port.ts';
import { INHERITED_ENV } from '../../../harness/inherited-env.ts';
import { patient } from '../../../harness/patient.ts';
import { createUpdatesWaiting } from '../../../services/updates/waiting.ts';
import { countHeldPolls } from '../../support/held-polls.ts';
import { type Service, startService } from '../../support/service.ts';

const UPDATES = '/api/v1/updates';
const WEB = join(import.meta.dirname, '../../../services/web.ts');
const NOTHING_YET = Symbol('nothing yet');

/** A reader that has read all events and waits for the next one on `service`. */
async function startWaiter(service: Service, agent: Agent, seconds = 25, authorization?: string) {
  const { next_cursor: cursor } = (await agent.call('GET', UPDATES)).body;
  const path = `${UPDATES}?cursor=${cursor}&wait=${seconds}`;
  const headers = { authorization: authorization ?? agent.authorization };
  return { cursor, path, answer: () => service.call('GET', path, { headers }) };
}

/** Whether no response has arrived after a moment. */
async function isWaiting(pending: Promise<ApiResponse>): Promise<boolean> {
  return (await Promise.race([pending, sleep(150, NOTHING_YET)])) === NOTHING_YET;
}

const startOnSameDatabase = (t: Parameters<typeof startService>[0], service: Service, more = {}) =>
  startService(t, {
    DATABASE_URL: service.database.url,
    SERVER_KEYS:
      service.core.config.serverKeys
        ?.map(({ id, secret }) => `${id}:${secret.toString('hex')}`)
        .join(',') ?? '',
    ...more,
  });

t.test('wakes a waiting request for the next event, on this process and on another', async (t) => {
  const service = await startService(t);
  const second = await startOnSameDatabase(t, service);
  const agent = await newAgent(service);
  const here = (await startWaiter(service, agent)).answer();
  const there = (await startWaiter(second, agent)).answer();
  t.ok(await isWaiting(Promise.race([here, there])));
  const made = await bootstrap(service, agent, newCredential());
  for (const answer of await Promise.all([here, there])) {
    t.equal(answer.status, 200);
    t.match(answer.body, {
      has_more: false,
      events: [{ id: made.body.receipt.event_ids[0], sequence: 3, type: 'credential.created' }],
    });
  }
  const events = (await agent.call('GET', `${UPDATES}?wait=25`)).body.events;
  t.equal(events.length, 3, 'a request with events to return does not wait');
});

t.test('ends a wait without events at its time limit, with the same cursor', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const { cursor, answer } = await startWaiter(service, agent, 1);
  const pending = answer();
  t.ok(await isWaiting(pending));
  const { status, body } = await pending;
  t.equal(status, 200);
  t.same(body, { status: 'ok', events: [], next_cursor: cursor, has_more: false });
});

t.test('finds an event by polling when its notification is lost', async (t) => {
  const service = await startService(t);
  const second = await startOnSameDatabase(t, service);
  const agent = await newAgent(service);
  const pending = (await startWaiter(second, agent)).answer();
  t.ok(await isWaiting(pending));
  await service.core.wakeUps.close();
  await bootstrap(service, agent, newCredential());
  const { body } = await pending;
  t.equal(body.events.length, 1);
});

t.test('refuses a waiting request immediately when its bearer is revoked', async (t) => {
  const service = await startService(t);
  const second = await startOnSameDatabase(t, service);
  const agent = await newAgent(service);
  const reader = newCredential(['updates:read']);
  await bootstrap(service, agent, reader);
  const held = countHeldPolls(second);
  const pending = (await startWaiter(second, agent, 25, toAuthorization(reader))).answer();
  await held.until(1);
  // This one is read after the first page of the waiting request, which must not have the revocation yet.
  await second.call('GET', UPDATES, { headers: { authorization: agent.authorization } });
  t.ok(await isWaiting(pending));
  const revoked = await agent.call('POST', '/api/v1/me/credentials/revoke', {
    credential_id: reader.credential_id,
  });
  t.equal(revoked.status, 200);
  const answer = await pending;
  t.equal(answer.status, 401);
  t.equal(answer.body.status, 'credential_not_accepted');
});

t.test('refuses a waiting request whose bearer expires', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const reader = newCredential(['updates:read']);
  await bootstrap(service, agent, reader);
  const pending = (await startWaiter(service, agent, 10, toAuthorization(reader))).answer();
  t.ok(await isWaiting(pending));
  await service.tamper('UPDATE credentials SET expires_at = now() WHERE credential_id = $1', [
    reader.credential_id,
  ]);
  t.equal((await pending).status, 401);
});

t.test('ends a wait at the expiry of its bearer', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const reader = newCredential(['updates:read']);
  await bootstrap(service, agent, reader);
  const { answer } = await startWaiter(service, agent, 25, toAuthorization(reader));
  await service.tamper(
    `UPDATE credentials SET expires_at = clock_timestamp() + interval '10 seconds'
     WHERE credential_id = $1`,
    [reader.credential_id],
  );
  const unexpired = (await startWaiter(service, agent)).answer();
  const pending = answer();
  t.ok(await isWaiting(pending));
  const { status, body } = await pending;
  t.equal(status, 401);
  t.equal(body.status, 'credential_not_accepted');
  t.ok(await isWaiting(unexpired), 'before the end of the wait');
  await bootstrap(service, agent, newCredential());
  t.equal((await unexpired).status, 200);
});

t.test('holds no database connection while a request waits', async (t) => {
  const service = await startService(t, { DATABASE_POOL_SIZE: '1' });
  const agent = await newAgent(patient(service));
  const { answer } = await startWaiter(service, agent);
  const pending = Array.from({ length: 20 }, answer);
  t.ok(await isWaiting(Promise.race(pending)));
  const me = await Promise.all(Array.from({ length: 20 }, () => agent.call('GET', '/api/v1/me')));
  t.ok(me.every(({ status }) => status === 200));
  await bootstrap(service, agent, newCredential());
  for (const { body } of await Promise.all(pending)) t.equal(body.events.length, 1);
});

t.test('ends the wait of a caller that disconnects', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const { path } = await startWaiter(service, agent);
  const held = countHeldPolls(service);
  const leaving = new AbortController();
  const request = fetch(`${service.baseUrl}${path}`, {
    headers: { authorization: agent.authorization },
    signal: leaving.signal,
  });
  await held.until(1);
  const before = service.logged.length;
  leaving.abort();
  await t.rejects(request);
  while (service.logged.length === before) await sleep(5);
  t.match(service.logged.at(-1), /"route":"\/api\/v1\/updates"/, 'the request has ended');
});

t.test('ends a wait after an earlier event, a disconnect, a timeout or a drain', async (t) => {
  const service = await startService(t);
  const { id } = await newAgent(service);
  const notifyAtOnce = (_: string, hear: () => void) => {
    hear();
    return () => undefined;
  };
  const waiting = createUpdatesWaiting(service.core.pool, {
    ...service.core.wakeUps,
    subscribe: notifyAtOnce,
  });
  // The test lasts as long as a wait that does not end earlier.
  const wait = (seen: number, gone = new AbortController().signal, seconds = 3600) =>
    waiting.listen(id).more(seen, seconds, gone);
  await wait(1);
  t.pass('an event between subscribing and reading ends the wait');
  const started = performance.now();
  await wait(Infinity, undefined, 0.5);
  t.ok(performance.now() - started > 450);
  await wait(Infinity, AbortSignal.abort());
  t.pass('a disconnect ends the wait');
  waiting.close();
  await wait(Infinity);
  t.pass('a drain ends the wait');
});

t.test('answers waiting requests when the process drains', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const [port, metricsPort] = [await freePort(), await freePort()];
  const baseUrl = `http://127.0.0.1:${port}`;
  const [key] = service.core.config.serverKeys ?? [];
  const child: ChildProcess = spawn(process.execPath, [WEB], {
    env: {
      ...INHERITED_ENV,
      DATABASE_URL: service.database.url,
      PORT: port,
      METRICS_PORT: metricsPort,
      BASE_URL: baseUrl,
      SERVER_KEYS: `${key?.id}:${key?.secret.toString('hex')}`,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  while ((await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.status !== 200) await sleep(50);
  const { path, cursor } = await startWaiter(service, agent);
  const headers = { authorization: agent.authorization };
  const pending = Array.from({ length: 5 }, () => fetch(`${baseUrl}${path}`, { headers }));
  const inFlight = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(/^http_requests_in_flight (\d+)$/m.exec(metrics)?.[1]);
  };
  while ((await inFlight()) < pending.length) await sleep(20);
  const elsewhere = (await startWaiter(service, agent)).answer();
  child.kill('SIGTERM');
  for (const answer of await Promise.all(pending)) {
    t.equal(answer.status, 200);
    t.same(await answer.json(), {
      status: 'ok',
      events: [],
      next_cursor: cursor,
      has_more: false,
    });
  }
  t.same(await ended, [0, null]);
  t.ok(await isWaiting(elsewhere), 'before the end of the wait');
  await bootstrap(service, agent, newCredential());
  t.equal((await elsewhere).status, 200);
});

t.test('notices a wake-up between two turns of a wait for some types', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  let hint: () => void = () => undefined;
  const wakeUps = {
    subscribe(_topic: string, listener: () => void) {
      hint = listener;
      return () => undefined;
    },
  } as unknown as Parameters<typeof createUpdatesWaiting>[1];
  const listening = createUpdatesWaiting(service.core.pool, wakeUps).listen(agent.id);
  const gone = new AbortController();
  await listening.more(0, 0, gone.signal);
  hint();
  // Without the hint, this turn would last until the test fails.
  await listening.more(0, 3600, gone.signal);
  t.equal(getEventListeners(gone.signal, 'abort').length, 0, 'no listener is left');
});
