import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createAuthenticator } from '../../harness/authenticator.ts';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { addModerator, submit } from '../../harness/moderation.ts';
import { brief } from '../../harness/packets.ts';
import { signedIn } from '../../harness/registration.ts';
import { settledPosition } from '../../platform/eventstore/subscription.ts';
import { clientConfig, withConnection } from '../../platform/postgres/connection.ts';
import { gather } from '../../services/notices/gather.ts';
import {
  EMPTIED_TABLES,
  emptySandbox,
  FOREIGN_EVENTS,
  IS_A_SANDBOX,
  KEPT_TABLES,
  markSandbox,
  NOT_A_SANDBOX,
  NOT_MARKED,
  PARTLY_KEPT_TABLES,
  requireSandboxMark,
  requireSandboxOrEmpty,
  sandboxMark,
} from '../../services/sandbox.ts';
import { untilEmptying } from '../../services/sandbox-notice.ts';
import { verifySeal } from '../../services/seal/verify-seal.ts';
import { testDatabase } from '../support/database.ts';
import { dumpSchema } from '../support/schema-dump.ts';
import { sealNow } from '../support/sealed.ts';
import { startService } from '../support/service.ts';

const MIDNIGHT = '00:00';

async function startSandbox(t: Parameters<typeof startService>[0], settings = {}) {
  const database = await testDatabase(t);
  await database.pool.query('INSERT INTO sandbox DEFAULT VALUES');
  return startService(t, { SANDBOX: 'true', ...settings }, database);
}

async function connect(
  t: { teardown(end: () => unknown): unknown },
  url: string,
  name = 'release',
) {
  const client = new pg.Client({ connectionString: url, application_name: name });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

/** The schema without rows. */
const schemaOf = async (pool: pg.Pool) => (await dumpSchema(pool)).replace(/^ {2}ROW .*$\n/gm, '');

/** A server process ends a moment after its client. */
async function untilGone(pool: pg.Pool, name: string | undefined): Promise<void> {
  const find = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`;
  while ((await pool.query(find, [name])).rowCount !== 0);
}

const makeDue = `UPDATE sandbox SET emptied_at = now() - interval '2 days'`;

t.test('each table is named as kept or as emptied', async (t) => {
  const { pool } = await testDatabase(t);
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
       AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const named = [...KEPT_TABLES, ...PARTLY_KEPT_TABLES, ...EMPTIED_TABLES].toSorted();
  t.same(named, rows.map(({ name }) => name).toSorted());
});

t.test('refuses a database that does not fit the setting', async (t) => {
  const { url, pool } = await testDatabase(t);
  const query = (text: string) => pool.query(text);
  const client = await connect(t, url);
  await requireSandboxMark(query, false);
  await t.rejects(requireSandboxMark(query, true), new Error(NOT_MARKED));
  await t.rejects(emptySandbox(client, MIDNIGHT), new Error(NOT_MARKED));
  await markSandbox(client);
  await markSandbox(client);
  await requireSandboxMark(query, true);
  await t.rejects(requireSandboxMark(query, false), new Error(IS_A_SANDBOX));
});

t.test('never marks or empties a database with events of another service', async (t) => {
  const service = await startService(t);
  await newAgent(service);
  const { url, pool } = service.database;
  const client = await connect(t, url);
  await t.rejects(markSandbox(client), new Error(NOT_A_SANDBOX));
  await t.rejects(
    requireSandboxMark((text) => pool.query(text), true),
    new Error(NOT_A_SANDBOX),
  );
  await t.rejects(emptySandbox(client, MIDNIGHT), new Error(NOT_MARKED));
  t.equal((await pool.query('SELECT FROM members')).rowCount, 1);
});

t.test('never empties events that are older than the mark', async (t) => {
  const service = await startService(t);
  await newAgent(service);
  const { url, pool } = service.database;
  const client = await connect(t, url);
  // As after a copy of the mark alone, or of the events of another service into a sandbox.
  await pool.query('INSERT INTO sandbox DEFAULT VALUES');
  await pool.query(makeDue);
  const query = (text: string) => pool.query(text);
  const attempts: readonly (() => Promise<unknown>)[] = [
    () => markSandbox(client),
    () => emptySandbox(client, MIDNIGHT),
    () => requireSandboxMark(query, true),
    () => requireSandboxMark(query, false),
    () => requireSandboxOrEmpty(query, true),
  ];
  for (const attempt of attempts) await t.rejects(attempt(), new Error(FOREIGN_EVENTS));
  t.equal((await pool.query('SELECT FROM members')).rowCount, 1);
});

const verify = (url: string) => withConnection(clientConfig(url, 'service verify'), verifySeal);

t.test('begins a sealed tree that names the one which was emptied', async (t) => {
  const service = await startSandbox(t, { SEAL_KEY: randomBytes(32).toString('hex') });
  const { url, pool } = service.database;
  const client = await connect(t, url);
  await addModerator(service, 'Grace', 'lead');
  await newAgent(service);
  await sealNow(service.core);
  const checkpoint = async () => (await service.call('GET', '/log/checkpoint')).text.split('\n');
  const [origin, size, root] = await checkpoint();
  await pool.query(makeDue);
  await emptySandbox(client, MIDNIGHT);
  t.equal((await service.call('GET', '/log/checkpoint')).status, 404);
  t.equal(await verify(url), undefined);

  await newAgent(service);
  await sealNow(service.core);
  const next = await checkpoint();
  t.not(next[0], origin, 'another tree');
  t.equal(next[3], `previous ${origin} ${size} ${root}`);
  t.match(await verify(url), { origin: next[0], size: Number(next[1]), fault: undefined });
});

t.test('keeps what leads set up, and delivers nothing of the day before', async (t) => {
  const service = await startSandbox(t);
  const { url, pool } = service.database;
  const client = await connect(t, url);
  const lead = await addModerator(service, 'Grace', 'lead');
  const policy = { code: 'cats', title: 'Only cats', text: 'About something else.', active: true };
  const saved = await service.call('PUT', '/api/moderation/policies', {
    headers: { authorization: `Bearer ${lead.token}` },
    body: policy,
  });
  t.equal(saved.status, 200, saved.text);
  await submit(service, { id: randomUUID() });
  await pool.query(`INSERT INTO notice_receivers (receiver, position, dead_until, pending, attempts, next_at, failure)
    VALUES ('a', 1, now(), '{"id": "1"}', 4, now() + interval '1 hour', '503')`);
  t.ok((await pool.query('SELECT FROM pgboss.job')).rowCount, 'a job waits');
  const last = await pool.query('SELECT max(position)::int AS position FROM events');
  await pool.query(makeDue);
  await emptySandbox(client, MIDNIGHT);
  const { rows } = await pool.query(
    `SELECT pending, attempts, failure, next_at <= now() AS due FROM notice_receivers`,
  );
  t.same(rows, [{ pending: null, attempts: 0, failure: null, due: true }]);
  t.equal((await pool.query('SELECT FROM pgboss.job')).rowCount, 0);
  const { body } = await lead.get('policies');
  t.match(
    body.policies.find(({ code }: { code: string }) => code === 'cats'),
    policy,
  );
  const { place, message } = await gather(
    service.core.pool,
    { position: last.rows[0].position, dead_until: 'now' },
    (await settledPosition(service.core.pool)) ?? -1,
  );
  t.equal(message, undefined);
  t.equal(place.position, last.rows[0].position, 'the place does not go back');
});

t.test('empties a sandbox once a day, and keeps moderators and the schema', async (t) => {
  const service = await startSandbox(t);
  const { url, pool } = service.database;
  const client = await connect(t, url);
  const lead = await addModerator(service, 'Grace', 'lead');
  const author = await newAgent(service);
  await createOpenCase(createCaseCommands(author));
  await submit(service, { id: randomUUID() });
  t.same(await emptySandbox(client, MIDNIGHT), { state: 'not due' });
  const before = await schemaOf(pool);
  await pool.query(makeDue);
  const { rows: last } = await pool.query('SELECT max(position) AS position FROM events');

  const emptying = await emptySandbox(client, MIDNIGHT);
  t.equal(emptying.state, 'emptied');
  t.same(await emptySandbox(client, MIDNIGHT), { state: 'not due' });
  t.equal(await schemaOf(pool), before, 'triggers are as before');
  for (const table of EMPTIED_TABLES)
    t.equal(
      (await pool.query(`SELECT FROM ${table}`)).rowCount,
      table === 'membership_totals' ? 1 : 0,
      table,
    );
  const { rows: types } = await pool.query('SELECT DISTINCT type FROM events');
  t.same(types, [{ type: 'ModeratorAdded' }]);
  await t.rejects(pool.query('TRUNCATE events'), /events/);

  t.equal((await author.call('GET', '/api/v1/me')).status, 401);
  const me = await lead.get('queue');
  t.equal(me.status, 200, 'the token of a moderator still works');
  const next = await newAgent(service);
  t.equal((await next.call('GET', '/api/v1/me')).status, 200);
  const { rows: first } = await pool.query(
    `SELECT min(position) AS position FROM events WHERE type = 'MemberRegistered'`,
  );
  t.ok(Number(first[0].position) > Number(last[0].position), 'no position is used twice');
});

t.test('a member who registers again with the same keys gets cursor_reset', async (t) => {
  const service = await startSandbox(t);
  const { url, pool } = service.database;
  const client = await connect(t, url);
  const author = await newAgent(service);
  await createOpenCase(createCaseCommands(author));
  const { body } = await author.call('GET', '/api/v1/updates');
  await pool.query(makeDue);
  await emptySandbox(client, MIDNIGHT);
  const { id, handle, sign_in_key, recovery_key } = author;
  const keys = { id, handle, sign_in_key, recovery_key };
  const again = await newAgent(service, undefined, keys);
  const old = await again.call('GET', `/api/v1/updates?cursor=${body.next_cursor}`);
  t.match(old, { status: 400, body: { error: { code: 'cursor_reset' } } });
});

t.test('refuses sessions, passkeys and credentials of the day before', async (t) => {
  const service = await startSandbox(t, { TEST_HOST: 'localhost' });
  const { url, pool } = service.database;
  const client = await connect(t, url);
  const member = await signedIn(service);
  const { id, handle, sign_in_key, recovery_key, cookie } = member;
  const post = (path: string, body: object, sent?: string) =>
    service.call('POST', `/api/membership${path}`, { body, cookie: sent });
  const challenge = async (path: string, sent?: string) =>
    (await post(`${path}/challenge`, {}, sent)).body.options;
  const authenticator = createAuthenticator(service.baseUrl);
  const credential = authenticator.register(await challenge('/passkeys', cookie));
  const added = await post('/passkeys', { name: 'Laptop', sign_in_key, credential }, cookie);
  t.equal(added.status, 200, added.text);
  const old = await challenge('/passkeys/session');
  await pool.query(makeDue);
  await emptySandbox(client, MIDNIGHT);

  t.equal((await service.call('GET', '/api/membership/me', { cookie })).status, 401);
  t.match(await post('/login', { id, sign_in_key }), {
    status: 401,
    body: { status: 'credentials_not_accepted' },
  });
  // A challenge from before, and one from after.
  for (const options of [old, await challenge('/passkeys/session')]) {
    const answer = { credential: authenticator.signIn(options) };
    t.equal((await post('/passkeys/session', answer)).status, 401);
  }
  const registered = await post('/register', { id, handle, sign_in_key, recovery_key });
  t.equal(registered.status, 200, registered.text);
  t.equal((await service.call('GET', '/api/membership/me', { cookie })).status, 401);
  const passkey = { credential: authenticator.signIn(await challenge('/passkeys/session')) };
  t.equal((await post('/passkeys/session', passkey)).status, 401, 'the passkey is gone');
});

t.test('runs a request of the day before again, instead of replaying it', async (t) => {
  const service = await startSandbox(t);
  const { url, pool } = service.database;
  const client = await connect(t, url);
  const author = await newAgent(service);
  const body = brief();
  const send = (agent: typeof author) =>
    service.call('POST', '/api/v1/artifacts', {
      body,
      headers: { authorization: agent.authorization, 'idempotency-key': key },
    });
  const key = randomUUID();
  const first = await send(author);
  t.equal(first.status, 201, first.text);
  t.equal((await send(author)).headers.get('idempotency-replayed'), 'true');
  await pool.query(makeDue);
  await emptySandbox(client, MIDNIGHT);
  t.match(await send(author), {
    status: 401,
    body: { error: { code: 'credential_not_accepted' } },
  });
  const { id, handle, sign_in_key, recovery_key } = author;
  const keys = { id, handle, sign_in_key, recovery_key };
  const again = await newAgent(service, undefined, keys);
  const second = await send(again);
  t.equal(second.status, 201, second.text);
  t.equal(second.headers.get('idempotency-replayed'), null);
  t.not(second.body.artifact.id, first.body.artifact.id);
});

t.test('does nothing while a process is connected, and rolls back when it is killed', async (t) => {
  const { url, pool } = await testDatabase(t);
  const client = await connect(t, url);
  await markSandbox(client);
  await pool.query(makeDue);
  // An idle process has only the connection that listens.
  for (const [name, process] of [
    ['service web', 'service web'],
    ['service web wake-ups', 'service web'],
    ['worker-jobs', 'worker-jobs'],
    ['worker wake-ups', 'worker'],
  ]) {
    const web = new pg.Client({ connectionString: url, application_name: name });
    await web.connect();
    t.same(await emptySandbox(client, MIDNIGHT), { state: 'connected', processes: [process] });
    await web.end();
    await untilGone(pool, name);
  }

  // A lock of another transaction keeps the emptying waiting, until its server process is killed.
  const holder = await connect(t, url, 'other');
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE members IN ACCESS SHARE MODE');
  const killed = new pg.Client({ connectionString: url, application_name: 'killed' });
  killed.on('error', () => undefined);
  await killed.connect();
  const failing = t.rejects(emptySandbox(killed, MIDNIGHT));
  for (let waits = false; !waits; ) {
    const { rows } = await holder.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'killed' AND wait_event_type = 'Lock'`,
    );
    waits = rows.length > 0;
  }
  await failing;
  await holder.query('COMMIT');

  const second = await connect(t, url);
  const both = await Promise.all([emptySandbox(client, MIDNIGHT), emptySandbox(second, MIDNIGHT)]);
  t.same(both.map(({ state }) => state).toSorted(), ['emptied', 'not due']);
});

t.test('gives up when a worker starts while it waits for locks', async (t) => {
  const { url, pool } = await testDatabase(t);
  const client = await connect(t, url);
  await markSandbox(client);
  await pool.query(makeDue);
  const holder = await connect(t, url, 'other');
  await holder.query('BEGIN; LOCK TABLE members IN ACCESS SHARE MODE');
  const emptying = emptySandbox(client, MIDNIGHT);
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'release' AND wait_event_type = 'Lock'`;
  while ((await holder.query(waiting)).rowCount === 0);
  await connect(t, url, 'worker');
  await holder.query('COMMIT');
  t.same(await emptying, { state: 'connected', processes: ['worker'] });
  const { rows } = await pool.query(
    "SELECT emptied_at < now() - interval '1 day' AS old FROM sandbox",
  );
  t.same(rows, [{ old: true }]);
});

t.test('is due by the clock of the day in UTC, in each zone of the connection', async (t) => {
  const { url, pool } = await testDatabase(t);
  const client = await connect(t, url);
  await markSandbox(client);
  const { rows } = await pool.query<{ at: string; later: string }>(
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'HH24:MI') AS at,
       to_char(now() AT TIME ZONE 'UTC' + interval '1 hour', 'HH24:MI') AS later`,
  );
  const [{ at, later }] = rows as [{ at: string; later: string }];
  const isDue = async (emptiedAt: string, time: string) => {
    await pool.query(`UPDATE sandbox SET emptied_at = ${time}`);
    const { rows: marks } = await client.query(sandboxMark(emptiedAt));
    return marks[0]?.due;
  };
  const minute = `date_trunc('minute', now())`;
  for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', 'Europe/Berlin']) {
    await client.query(`SET TIME ZONE '${zone}'`);
    t.equal(await isDue(at, `${minute} - interval '10 minutes'`), true, `${zone}: just passed`);
    t.equal(await isDue(at, 'now()'), false, `${zone}: emptied after it`);
    t.equal(await isDue(later, `now() - interval '22 hours'`), false, `${zone}: not yet`);
    t.equal(await isDue(later, `now() - interval '24 hours'`), true, `${zone}: yesterday's`);
    t.equal(await isDue(at, `now() + interval '2 hours'`), false, `${zone}: a clock set back`);
    t.equal(await isDue(at, `now() + interval '2 days'`), true, `${zone}: a clock far ahead`);
  }
});

t.test('says everywhere that it is a sandbox', async (t) => {
  const service = await startSandbox(t, { SANDBOX_EMPTIED_AT: '05:30' });
  const pages = [
    ...['/', '/search', '/members', '/packets', '/cases', '/activity', '/about', '/transparency'],
    ...['/developers', '/me', '/write', '/docs', '/docs/errors', '/moderation', '/no-such-page'],
  ];
  for (const path of pages) {
    const page = await service.call('GET', path, { headers: { accept: 'text/html' } });
    const notice =
      '<aside class="sandbox" aria-label="Sandbox">Test only, emptied daily at 05:30 UTC</aside>';
    t.equal(page.text.split(notice).length, 2, path);
    t.notMatch(page.text, /<(title|meta)[^>]*[^<]*emptied daily/, path);
    t.equal(page.headers.get('x-robots-tag'), 'noindex', path);
  }
  for (const path of [
    '/',
    '/about',
    '/cases',
    '/docs',
    '/docs/cases',
    '/developers',
    '/for-agents',
  ]) {
    const answer = await service.call('GET', path, { headers: { accept: 'text/markdown' } });
    t.match(answer.text, /^> This is a sandbox for tests/, path);
  }
  t.match((await service.call('GET', '/for-agents.md')).text, /^> This is a sandbox for tests/);
  t.match((await service.call('GET', '/llms-full.txt')).text, 'This is a sandbox for tests');
  t.equal(service.core.config.siteName, 'Guestbook', 'feeds and passkeys have the plain name');
  for (const path of [
    ...['/api/v1/discovery', '/.well-known/agent-card.json', '/openapi.json', '/llms.txt'],
  ])
    t.match((await service.call('GET', path)).text, 'This is a sandbox for tests', path);
  t.equal((await service.call('GET', '/robots.txt')).text, 'User-agent: *\nDisallow: /\n');
  t.equal(service.core.config.limitMembers, 100_000);
});

t.test('says nothing of a sandbox elsewhere', async (t) => {
  const service = await startService(t);
  for (const path of [
    '/',
    '/docs',
    '/moderation',
    '/robots.txt',
    '/api/v1/discovery',
    '/llms.txt',
  ]) {
    const answer = await service.call('GET', path);
    t.notMatch(answer.text, /sandbox|emptied daily/i, path);
    t.equal(answer.headers.get('x-robots-tag'), null, path);
  }
});

t.test('waits until the next time of day', async (t) => {
  const at = (text: string) => Date.parse(`2026-11-28T${text}Z`);
  t.equal(untilEmptying('04:00', at('03:59:30')), 30_000);
  t.equal(untilEmptying('04:00', at('04:00:00')), 86_400_000);
  t.equal(untilEmptying('23:30', at('00:00:00')), 84_600_000);
});
