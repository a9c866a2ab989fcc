import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { createUpdatesWaiting } from '../../../services/updates/waiting.ts';
import { type Service, startService } from '../../support/service.ts';

const UPDATES = '/api/v1/updates';
const WEB = join(import.meta.dirname, '../../../services/web.ts');
const NOTHING_YET = Symbol('nothing yet');

/** A reader that has seen everything, asking on `service` for what comes next. */
async function waiter(service: Service, agent: Agent, seconds = 25, authorization?: string) {
  const { next_cursor: cursor } = (await agent.call('GET', UPDATES)).body;
  const path = `${UPDATES}?cursor=${cursor}&wait=${seconds}`;
  const headers = { authorization: authorization ?? agent.authorization };
  return { cursor, path, answer: () => service.call('GET', path, { headers }) };
}

/** True where no answer has come after a moment. */
async function waits(pending: Promise<ApiResponse>): Promise<boolean> {
  return (await Promise.race([pending, sleep(150, NOTHING_YET)])) === NOTHING_YET;
}

const sameDatabase = (t: Parameters<typeof startService>[0], service: Service, more = {}) =>
  startService(t, {
    DATABASE_URL: service.database.url,
    SERVER_KEYS:
      service.core.config.serverKeys
        ?.map(({ id, secret }) => `${id}:${secret.toString('hex')}`)
        .join(',') ?? '',
    ...more,
  });

t.test('a request waits for the next event, on this process and on another', async (t) => {
  const service = await startService(t);
  const second = await sameDatabase(t, service);
  const agent = await newAgent(service);
  const here = (await waiter(service, agent)).answer();
  const there = (await waiter(second, agent)).answer();
  t.ok(await waits(Promise.race([here, there])));
  const made = await bootstrap(service, agent, newCredential());
  for (const answer of await Promise.all([here, there])) {
    t.equal(answer.status, 200);
    t.match(answer.body, {
      has_more: false,
      events: [{ id: made.body.receipt.event_ids[0], sequence: 3, type: 'credential.created' }],
    });
  }
  const events = (await agent.call('GET', `${UPDATES}?wait=25`)).body.events;
  t.equal(events.length, 3, 'where there is something, nothing waits');
});

t.test('with nothing to tell, the time ends it, with the same cursor', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const { cursor, answer } = await waiter(service, agent, 1);
  const pending = answer();
  t.ok(await waits(pending));
  const { status, body } = await pending;
  t.equal(status, 200);
  t.same(body, { status: 'ok', events: [], next_cursor: cursor, has_more: false });
});

t.test('a hint that is lost is made good by polling', async (t) => {
  const service = await startService(t);
  const second = await sameDatabase(t, service);
  const agent = await newAgent(service);
  const pending = (await waiter(second, agent)).answer();
  t.ok(await waits(pending));
  await service.core.wakeUps.close();
  await bootstrap(service, agent, newCredential());
  const { body } = await pending;
  t.equal(body.events.length, 1);
});

t.test('a bearer revoked during the wait is refused, at once and whatever has come', async (t) => {
  const service = await startService(t);
  const second = await sameDatabase(t, service);
  const agent = await newAgent(service);
  const reader = newCredential(['updates:read']);
  await bootstrap(service, agent, reader);
  const pending = (await waiter(second, agent, 25, toAuthorization(reader))).answer();
  t.ok(await waits(pending));
  const revoked = await agent.call('POST', '/api/v1/me/credentials/revoke', {
    credential_id: reader.credential_id,
  });
  t.equal(revoked.status, 200);
  const answer = await pending;
  t.equal(answer.status, 401);
  t.equal(answer.body.status, 'credential_not_accepted');
});

t.test('a bearer that ends by the clock during the wait is refused', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const reader = newCredential(['updates:read']);
  await bootstrap(service, agent, reader);
  const pending = (await waiter(service, agent, 1, toAuthorization(reader))).answer();
  t.ok(await waits(pending));
  await service.tamper('UPDATE credentials SET expires_at = now() WHERE credential_id = $1', [
    reader.credential_id,
  ]);
  t.equal((await pending).status, 401);
});

t.test('no wait goes on beyond the end of its bearer', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const reader = newCredential(['updates:read']);
  await bootstrap(service, agent, reader);
  const { answer } = await waiter(service, agent, 25, toAuthorization(reader));
  await service.tamper(
    `UPDATE credentials SET expires_at = clock_timestamp() + interval '1 second'
     WHERE credential_id = $1`,
    [reader.credential_id],
  );
  const started = performance.now();
  const pending = answer();
  t.ok(await waits(pending));
  const { status, body } = await pending;
  t.equal(status, 401);
  t.equal(body.status, 'credential_not_accepted');
  t.ok(performance.now() - started < 10_000, 'long before the wait would have been over');
});

t.test('who waits holds no connection of the database', async (t) => {
  const service = await startService(t, { DATABASE_POOL_SIZE: '1' });
  const agent = await newAgent(service);
  const { answer } = await waiter(service, agent);
  const pending = Array.from({ length: 20 }, answer);
  t.ok(await waits(Promise.race(pending)));
  const me = await Promise.all(Array.from({ length: 20 }, () => agent.call('GET', '/api/v1/me')));
  t.ok(me.every(({ status }) => status === 200));
  await bootstrap(service, agent, newCredential());
  for (const { body } of await Promise.all(pending)) t.equal(body.events.length, 1);
});

t.test('a caller that has gone leaves nothing behind', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const { path } = await waiter(service, agent);
  const leaving = new AbortController();
  const request = fetch(`${service.baseUrl}${path}`, {
    headers: { authorization: agent.authorization },
    signal: leaving.signal,
  });
  await sleep(150);
  const before = service.logged.length;
  leaving.abort();
  await t.rejects(request);
  while (service.logged.length === before) await sleep(5);
  t.match(service.logged.at(-1), /"route":"\/api\/v1\/updates"/, 'the exchange has ended');
});

t.test('nobody waits whom something was told of before, who has gone, or in a drain', async (t) => {
  const service = await startService(t);
  const { id } = await newAgent(service);
  const early = (_: string, hear: () => void) => {
    hear();
    return () => undefined;
  };
  const waiting = createUpdatesWaiting(service.core.pool, {
    ...service.core.wakeUps,
    subscribe: early,
  });
  const takes = async (seen: number, gone = new AbortController().signal, seconds = 20) => {
    const started = performance.now();
    await waiting.listen(id).more(seen, seconds, gone);
    return performance.now() - started;
  };
  t.ok((await takes(1)) < 10_000, 'an event between the listening and the reading');
  t.ok((await takes(Infinity, undefined, 0.5)) > 450);
  t.ok((await takes(Infinity, AbortSignal.abort())) < 10_000);
  waiting.close();
  t.ok((await takes(Infinity)) < 10_000);
});

t.test('a process that drains answers whoever waits, and ends', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const [key] = service.core.config.serverKeys ?? [];
  const child: ChildProcess = spawn(process.execPath, [WEB], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: service.database.url,
      PORT: port,
      METRICS_PORT: '0',
      BASE_URL: baseUrl,
      SERVER_KEYS: `${key?.id}:${key?.secret.toString('hex')}`,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  while ((await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.status !== 200) await sleep(50);
  const { path, cursor } = await waiter(service, agent);
  const headers = { authorization: agent.authorization };
  const pending = Array.from({ length: 5 }, () => fetch(`${baseUrl}${path}`, { headers }));
  await sleep(300);
  const started = Date.now();
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
  t.ok(Date.now() - started < 10_000, 'long before the wait would have been over');
});
