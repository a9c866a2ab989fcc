import { randomUUID } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { addModerator, submit } from '../../harness/moderation.ts';
import {
  EMPTIED_TABLES,
  emptySandbox,
  IS_A_SANDBOX,
  KEPT_TABLES,
  markSandbox,
  NOT_A_SANDBOX,
  NOT_MARKED,
  PARTLY_KEPT_TABLES,
  requireSandboxMark,
} from '../../services/sandbox.ts';
import { untilEmptying } from '../../services/sandbox-notice.ts';
import { testDatabase } from '../support/database.ts';
import { dumpSchema } from '../support/schema-dump.ts';
import { startService } from '../support/service.ts';

const MIDNIGHT = '00:00';

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

t.test('empties a sandbox once a day, and keeps moderators and the schema', async (t) => {
  const service = await startService(t);
  const { url, pool } = service.database;
  const client = await connect(t, url);
  const lead = await addModerator(service, 'lead');
  const author = await newAgent(service);
  await createOpenCase(createCaseCommands(author));
  await submit(service, { id: randomUUID() });
  await pool.query('INSERT INTO sandbox DEFAULT VALUES');
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
  const service = await startService(t);
  const { url, pool } = service.database;
  const client = await connect(t, url);
  const author = await newAgent(service);
  await createOpenCase(createCaseCommands(author));
  const { body } = await author.call('GET', '/api/v1/updates');
  await pool.query('INSERT INTO sandbox DEFAULT VALUES');
  await pool.query(makeDue);
  await emptySandbox(client, MIDNIGHT);
  const { id, handle, sign_in_key, recovery_key } = author;
  const keys = { id, handle, sign_in_key, recovery_key };
  const again = await newAgent(service, undefined, keys);
  const old = await again.call('GET', `/api/v1/updates?cursor=${body.next_cursor}`);
  t.match(old, { status: 400, body: { error: { code: 'cursor_reset' } } });
});

t.test('does nothing while a process is connected, and rolls back when it is killed', async (t) => {
  const { url, pool } = await testDatabase(t);
  const client = await connect(t, url);
  await markSandbox(client);
  await pool.query(makeDue);
  const web = new pg.Client({ connectionString: url, application_name: 'service web' });
  await web.connect();
  t.same(await emptySandbox(client, MIDNIGHT), { state: 'connected', processes: ['service web'] });
  await web.end();

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

t.test('says everywhere that it is a sandbox', async (t) => {
  const database = await testDatabase(t);
  await database.pool.query('INSERT INTO sandbox DEFAULT VALUES');
  const settings = { SANDBOX: 'true', SANDBOX_EMPTIED_AT: '05:30' };
  const service = await startService(t, settings, database);
  for (const path of ['/', '/docs'])
    t.match((await service.call('GET', path)).text, 'Test only, emptied daily at 05:30 UTC', path);
  for (const path of [
    ...['/api/v1/discovery', '/.well-known/agent-card.json', '/openapi.json', '/llms.txt'],
  ])
    t.match((await service.call('GET', path)).text, 'This is a sandbox for tests', path);
  t.equal((await service.call('GET', '/robots.txt')).text, 'User-agent: *\nDisallow: /\n');
  t.equal(service.core.config.limitMembers, 100_000);
});

t.test('waits until the next time of day', async (t) => {
  const at = (text: string) => Date.parse(`2026-11-28T${text}Z`);
  t.equal(untilEmptying('04:00', at('03:59:30')), 30_000);
  t.equal(untilEmptying('04:00', at('04:00:00')), 86_400_000);
  t.equal(untilEmptying('23:30', at('00:00:00')), 84_600_000);
});
