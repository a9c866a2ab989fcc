import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { newCase } from '../../harness/cases.ts';
import { addModerator, countClaims, submit } from '../../harness/moderation.ts';
import { newRegistration } from '../../harness/registration.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { withClient } from '../../platform/postgres/pool.ts';
import { deadline } from '../../platform/postgres/request-deadline.ts';
import { testDatabase } from '../support/database.ts';
import { isUnconfirmed, repeatWhile } from '../support/repeat-while.ts';
import { keepRequestTime } from '../support/request-time.ts';
import { startService } from '../support/service.ts';
import { startStopwatch } from '../support/stopwatch.ts';

keepRequestTime(t);

const LIMIT_MS = 3300;

/** Starts the service with a fault-injecting proxy in front of its database. */
async function startBehindProxy(t: Test, settings: Record<string, string> = {}) {
  const database = await testDatabase(t);
  const proxy = await wireProxy(t, database.url);
  const service = await startService(t, {
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: database.url,
    ...settings,
  });
  const register = (body: unknown) => service.call('POST', '/api/membership/register', { body });
  const agent = () => newAgent(service);
  async function eventsOf({ id }: { id: string }): Promise<string[]> {
    const { rows } = await database.pool.query('SELECT type FROM events WHERE owner_id = $1', [id]);
    return rows.map((row) => row.type);
  }
  return { proxy, register, agent, eventsOf, service };
}

t.test('finds a COMMIT whose reply was lost and answers 200', async (t) => {
  const { proxy, register, eventsOf } = await startBehindProxy(t);
  const body = newRegistration();
  proxy.dropCommitReply('MemberRegistered');
  const answer = await register(body);
  t.equal(proxy.fired(), 1);
  t.equal(answer.status, 200, answer.text);
  t.same(await eventsOf(body), ['MemberRegistered']);
  t.equal((await register(body)).text, answer.text);
  t.same(await eventsOf(body), ['MemberRegistered']);
});

t.test('writes nothing twice when a COMMIT is lost', async (t) => {
  const { proxy, register, eventsOf } = await startBehindProxy(t);
  let body = newRegistration();
  const answer = await repeatWhile(isUnconfirmed, async (turn) => {
    body = newRegistration();
    proxy.dropCommit('MemberRegistered');
    const stopwatch = startStopwatch();
    const answer = await register(body);
    t.ok(stopwatch() < LIMIT_MS, 'answers in time');
    t.equal(proxy.fired(), turn);
    return answer;
  });
  if (answer.status === 200) t.same(await eventsOf(body), ['MemberRegistered']);
  else {
    t.equal(answer.status, 503);
    t.equal(answer.body.error.code, 'storage_unavailable');
    t.same(await eventsOf(body), []);
  }
  const again = await register(body);
  t.equal(again.status, 200, again.text);
  t.same(await eventsOf(body), ['MemberRegistered']);
});

t.test('answers 503 in time when the database falls silent at COMMIT', async (t) => {
  const { proxy, register, eventsOf } = await startBehindProxy(t);
  for (const turn of [1, 2]) {
    const body = newRegistration();
    proxy.holdAtCommit('MemberRegistered');
    const stopwatch = startStopwatch();
    const answer = await register(body);
    const took = stopwatch();
    t.equal(proxy.fired(), turn);
    t.equal(answer.status, 503, answer.text);
    t.equal(answer.body.error.code, 'outcome_unconfirmed');
    t.ok(took < LIMIT_MS, `${Math.round(took)} ms`);
    proxy.release();
    t.equal((await register(body)).status, 200);
    t.same(await eventsOf(body), ['MemberRegistered']);
  }
});

t.test('makes a claim once, or reports it unconfirmed, when COMMIT is not answered', async (t) => {
  const { proxy, service } = await startBehindProxy(t);
  const ann = await addModerator(service, 'ann');
  for (let n = 0; n < 3; n++) await submit(service);
  const claim = (key?: string) =>
    service.call('POST', '/api/moderation/claims', {
      body: { count: 1 },
      headers: {
        authorization: `Bearer ${ann.token}`,
        ...(key ? { 'idempotency-key': key } : {}),
      },
    });

  proxy.dropCommitReply('moderation.claim');
  const found = await claim(randomUUID());
  t.equal(found.status, 200, found.text);
  t.equal(await countClaims(ann), 1, 'the receipt has the claim');

  let key = '';
  let drops = 0;
  const lost = await repeatWhile(isUnconfirmed, (turn) => {
    key = randomUUID();
    drops = turn;
    proxy.dropCommit('moderation.claim');
    return claim(key);
  });
  if (lost.status !== 200) {
    t.equal(lost.status, 503);
    t.equal(lost.body.error.code, 'storage_unavailable', 'it is known that nothing was claimed');
    t.equal(await countClaims(ann), 1);
  }
  const again = await claim(key);
  t.equal(again.status, 200, again.text);
  if (lost.status === 200) t.equal(again.body.claims[0].lease_id, lost.body.claims[0].lease_id);
  t.equal(await countClaims(ann), 2);

  proxy.holdAfterCommit('moderation.claim');
  const unconfirmed = await claim(randomUUID());
  proxy.release();
  t.equal(unconfirmed.body.error?.code, 'outcome_unconfirmed', unconfirmed.text);
  t.equal(await countClaims(ann), 3, 'claimed although the result could not be read');
  t.equal(proxy.fired(), drops + 2);
});

for (const connected of [true, false])
  t.test(
    `answers 503 in time from a silent database, ${connected ? 'with' : 'without'} open connections`,
    async (t) => {
      const { proxy, register, eventsOf } = await startBehindProxy(t);
      if (connected) t.equal((await register(newRegistration())).status, 200);
      const body = newRegistration();
      proxy.hold();
      const stopwatch = startStopwatch();
      const answer = await register(body);
      const took = stopwatch();
      t.equal(answer.status, 503, answer.text);
      t.equal(answer.body.error.code, 'storage_unavailable');
      t.ok(took < LIMIT_MS, `${Math.round(took)} ms`);
      proxy.release();
      t.equal((await register(newRegistration())).status, 200);
      t.equal((await register(body)).status, 200);
      t.same(await eventsOf(body), ['MemberRegistered']);
    },
  );

t.test('answers requests in time that wait for the reads of others', async (t) => {
  const { proxy, agent, service } = await startBehindProxy(t);
  const bearer = await agent();
  const { token } = await addModerator(service, 'ann');
  const authorization = `Bearer ${token}`;
  const requests = {
    guestbook: () => service.call('GET', '/api/guestbook'),
    'a member': () => bearer.call('GET', '/api/v1/me'),
    'a moderator': () =>
      service.call('GET', '/api/moderation/queue', { headers: { authorization } }),
  };
  for (const request of Object.values(requests)) t.equal((await request()).status, 200);
  // Open a connection for each request first: the timeout for a new connection is shorter.
  const lists = Array.from({ length: 20 }, (_, n) => `/api/v1/agents?limit=${n + 1}`);
  await Promise.all(lists.map((path) => service.call('GET', path)));
  proxy.hold();
  // Start the requests 40 ms apart, so that each finds the earlier ones in progress.
  const waiting = Object.entries(requests).flatMap(([name, request]) =>
    [0, 1, 2, 3, 4].map(async (turn) => {
      await sleep(turn * 40);
      const stopwatch = startStopwatch();
      const { status } = await request();
      const took = stopwatch();
      t.equal(status, 503, name);
      t.ok(took < LIMIT_MS, `${name}: ${Math.round(took)} ms`);
    }),
  );
  await Promise.all(waiting);
  proxy.release();
  for (const request of Object.values(requests)) t.equal((await request()).status, 200);
});

t.test('keeps its deadline when the system clock is put back', async (t) => {
  const { pool } = await testDatabase(t);
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() + 3_600_000;
  const connecting = {
    async connect() {
      const client = await pool.connect();
      Date.now = now;
      return client;
    },
  };
  const stopwatch = startStopwatch();
  await t.rejects(
    withClient(connecting as pg.Pool, deadline(), (client) => client.query('SELECT pg_sleep(20)')),
    /terminated/,
  );
  const took = stopwatch();
  t.ok(took < LIMIT_MS, `${Math.round(took)} ms`);
});

t.test('replaces connections that are cut between requests', async (t) => {
  const { proxy, register, eventsOf } = await startBehindProxy(t);
  t.equal((await register(newRegistration())).status, 200);
  const body = newRegistration();
  proxy.cut();
  const next = await register(body);
  t.ok([200, 503].includes(next.status), next.text);
  const again = await register(body);
  t.equal(again.status, 200, again.text);
  t.same(await eventsOf(body), ['MemberRegistered']);
});

t.test('survives connections that are cut during requests', async (t) => {
  const { proxy, register, eventsOf } = await startBehindProxy(t);
  const bodies = Array.from({ length: 20 }, newRegistration);
  const answers = bodies.map(register);
  const cutting = setInterval(() => proxy.cut(), 5);
  setTimeout(() => clearInterval(cutting), 200);
  for (const { status, text } of await Promise.all(answers))
    t.ok([200, 503].includes(status), text);
  clearInterval(cutting);
  for (const body of bodies) {
    t.equal((await register(body)).status, 200);
    t.same(await eventsOf(body), ['MemberRegistered']);
  }
});

t.test('shares one deadline between the counters and the command of a request', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const answer = await repeatWhile(isUnconfirmed, async () => {
    const [counters, totals] = [await pool.connect(), await pool.connect()];
    await counters.query('BEGIN; LOCK TABLE rate_counters');
    await totals.query('BEGIN; SELECT FROM membership_totals FOR UPDATE');
    const stopwatch = startStopwatch();
    setTimeout(() => void counters.query('ROLLBACK'), 2000);
    const answer = await service.call('POST', '/api/membership/register', {
      body: newRegistration(),
    });
    t.ok(stopwatch() < LIMIT_MS, 'answers in time');
    await totals.query('ROLLBACK');
    counters.release();
    totals.release();
    return answer;
  });
  t.equal(answer.body.error.code, 'storage_unavailable');
});

for (const dropped of ['dropCommitReply', 'dropCommit'] as const)
  t.test(
    `gives a scoped write exactly one effect despite a lost COMMIT (${dropped})`,
    async (t) => {
      const { proxy, agent, eventsOf } = await startBehindProxy(t);
      const member = await agent();
      const body = newCase();
      const headers = { 'idempotency-key': '5c9a1c8e-5f0e-4b7e-8a7e-6a1b2c3d4e5f' };
      proxy[dropped]('CaseOpened');
      const first = await member.call('POST', '/api/v1/cases', body, headers);
      t.equal(proxy.fired(), 1);
      if (dropped === 'dropCommitReply') t.equal(first.status, 201, first.text);
      const again = await member.call('POST', '/api/v1/cases', body, headers);
      t.equal(again.status, 201, again.text);
      if (first.status === 201) t.equal(again.text, first.text);
      const opened = (await eventsOf(member)).filter((type) => type === 'CaseOpened');
      t.same(opened, ['CaseOpened']);
    },
  );
