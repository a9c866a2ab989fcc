import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import { createBackup } from '../../cli/backup/create.ts';
import { newAgent } from '../../harness/agent.ts';
import { submit } from '../../harness/moderation.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startCaller } from '../../platform/jobs/boss.ts';
import { parseServerKeys } from '../../platform/keys/server-keys.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { grantRoles } from '../../services/database-roles.ts';
import { catalogue, projections } from '../../services/features.ts';
import { asRole, testDatabase } from '../support/database.ts';
import { operatorEnv } from '../support/moderator-command.ts';
import { startProcess } from '../support/processes.ts';
import { rebuildTables } from '../support/rebuild-command.ts';
import { recordRun } from '../support/recorded-run.ts';
import { startService } from '../support/service.ts';
import { isStorageRefusal } from '../support/storage-refusals.ts';

const WORDS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'];

/** What a role may do with each table; in parentheses, with which columns alone. */
async function privileges(pool: pg.Pool, role: string): Promise<Record<string, string>> {
  const { rows } = await pool.query<{ name: string; privileges: string }>(
    `SELECT c.oid::regclass::text AS name, string_agg(
       word || CASE WHEN whole THEN '' ELSE ' (' || columns || ')' END, ', ' ORDER BY turn) AS privileges
     FROM pg_class c, unnest($2::text[]) WITH ORDINALITY AS given (word, turn),
       LATERAL (SELECT has_table_privilege($1, c.oid, word) AS whole) whole,
       LATERAL (SELECT string_agg(attname, ', ' ORDER BY attname) AS columns FROM pg_attribute
         WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
           AND CASE WHEN word IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
             THEN has_column_privilege($1, c.oid, attnum, word) END) columns
     WHERE relkind IN ('r', 'p', 'v') AND NOT relispartition AND (whole OR columns IS NOT NULL)
       AND relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)
     GROUP BY c.oid`,
    [role, WORDS],
  );
  return Object.fromEntries(rows.map(({ name, privileges }) => [name, privileges]));
}

const READ = [
  ...['activity', 'artifacts', 'case_notes', 'case_reviews', 'case_submissions', 'cases'],
  ...['handles', 'members', 'moderation_weeks', 'notes', 'policies', 'profiles'],
  ...['case_steps', 'record_leaves', 'seal_tiles', 'seal_trees'],
];

/** All but the position, in alphabetical order. */
const EVENT_COLUMNS =
  'actor, data, event_id, owner_id, personal, recorded_at, stream_id, stream_version, type';

t.test('grants each role what it needs and nothing else', async (t) => {
  const { pool } = await testDatabase(t);
  const { rows } = await pool.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'p', 'v') AND NOT relispartition
       AND relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)`,
  );
  t.strictSame(await privileges(pool, 'service'), {
    ...Object.fromEntries(rows.map(({ name }) => [name, 'SELECT, INSERT, UPDATE, DELETE'])),
    events: `SELECT, INSERT (${EVENT_COLUMNS}), UPDATE (personal)`,
    receipts: 'SELECT, INSERT, UPDATE (body_hash, bound, reply)',
    case_steps: 'SELECT',
    feed: 'SELECT, INSERT',
    feed_heads: 'SELECT, INSERT, UPDATE',
    feed_restores: 'SELECT',
    given_up_keys: 'SELECT, INSERT',
    log_epochs: 'SELECT',
    record_leaves: 'SELECT',
    schema_migrations: 'SELECT',
    sandbox: 'SELECT',
    seal_leaves: 'SELECT, INSERT, UPDATE (epoch, leaf, words_commitment, words_salt)',
    seal_tiles: 'SELECT, INSERT, UPDATE (hashes)',
    seal_trees: 'SELECT, INSERT, UPDATE',
    server_keys: 'SELECT, INSERT',
  });
  t.strictSame(await privileges(pool, 'service_read'), {
    ...Object.fromEntries(READ.map((name) => [name, 'SELECT'])),
    record_decisions:
      'SELECT (author_id, decided_at, decision, subject_id, subject_type, undone_at)',
    schema_migrations: 'SELECT (applied_at)',
  });
  t.strictSame(await privileges(pool, 'service_metrics'), {});
  const monitors = await pool.query(`SELECT pg_has_role('service_metrics', 'pg_monitor', 'USAGE')`);
  t.same(monitors.rows, [{ pg_has_role: true }]);
});

const REFUSED = [
  `INSERT INTO events (${EVENT_COLUMNS}, position) OVERRIDING SYSTEM VALUE
    SELECT ${EVENT_COLUMNS}, 9000000000000000000 FROM events`,
  "UPDATE events SET data = '{}'",
  'DELETE FROM events',
  'TRUNCATE events',
  'DROP TABLE events',
  'ALTER TABLE events DISABLE TRIGGER events_keep_rows',
  'ALTER TABLE events ADD COLUMN extra text',
  'DROP TRIGGER events_keep_rows ON events',
  'ALTER FUNCTION refuse_event_change() RENAME TO other',
  "SELECT setval('events_position_seq', 1)",
  'SET session_replication_role = replica',
  'UPDATE receipts SET http_status = 200',
  'DELETE FROM receipts',
  'UPDATE feed SET sequence = 1',
  'DELETE FROM feed',
  "INSERT INTO log_epochs (epoch, began_at, position, reason) VALUES (2, now(), 0, '')",
  'DELETE FROM schema_migrations',
  'DELETE FROM server_keys',
  'DELETE FROM given_up_keys',
  'CREATE TABLE other ()',
  'CREATE SCHEMA other',
  'CREATE TABLE pgboss.other ()',
];

t.test('lets the service make temporary tables where PUBLIC may not', async (t) => {
  const { url, pool } = await testDatabase(t);
  const database = new URL(url).pathname.slice(1);
  await pool.query(`REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC, service`);
  const client = await pool.connect();
  await grantRoles(client).finally(() => client.release());
  const { rows } = await pool.query(
    `SELECT has_database_privilege('service', current_database(), 'TEMPORARY') AS service,
       has_database_privilege('service_read', current_database(), 'TEMPORARY') AS reader`,
  );
  t.same(rows, [{ service: true, reader: false }]);
});

t.test('refuses the service every other change of the log and of the schema', async (t) => {
  const { url } = await testDatabase(t);
  const client = new pg.Client(asRole(url, 'service'));
  await client.connect();
  t.teardown(() => client.end());
  for (const statement of REFUSED) {
    const refused = client.query(statement);
    await t.rejects(refused, { code: '42501' }, statement);
  }
});

t.test('lets the service empty receipts and nothing else', async (t) => {
  const database = await testDatabase(t);
  const { pool, url } = database;
  const client = new pg.Client(asRole(url, 'service'));
  await client.connect();
  t.teardown(() => client.end());
  const words = { summary: 's', objective: 'o', acceptance_criteria: ['a'] };
  const submission = { member_id: 'm', summary: 'done' };
  const reply = { status: 'opened', case: { case_id: 'c', title: 't', ...words, submission } };
  await client.query(
    `INSERT INTO receipts (owner_id, space, key, operation, route, body_hash, bound, http_status, reply,
       event_ids, recorded_at)
     VALUES (gen_random_uuid(), 'api', gen_random_uuid(), 'case.open', '', 'hash', '{"n": 1}', 201, $1, '{}', now())`,
    [reply],
  );
  const erased = { title: '', summary: '', objective: '', acceptance_criteria: [] };
  const emptied = {
    ...reply,
    case: { ...reply.case, ...erased, submission: { ...submission, summary: null } },
  };
  const change = (column: string, value: unknown) =>
    client.query(`UPDATE receipts SET ${column} = $1`, [value]);
  for (const [column, value] of [
    ['reply', { ...reply, status: 'claimed' }],
    ['reply', { ...reply, case: { ...reply.case, title: 'other' } }],
    ['reply', { ...reply, case: { ...reply.case, case_id: '' } }],
    ['reply', { ...reply, case: { ...emptied.case, more: true } }],
    ['reply', 'null'],
    ['bound', { n: 2 }],
    ['body_hash', 'other'],
  ] as const)
    await t.rejects(change(column, value), { code: '23000' }, `${column} ${JSON.stringify(value)}`);
  for (const statement of ['DELETE FROM receipts', 'TRUNCATE receipts'])
    await t.rejects(pool.query(statement), { code: '23000' }, `${statement} as the owner`);

  await change('reply', emptied);
  t.same((await pool.query('SELECT reply FROM receipts')).rows, [{ reply: emptied }]);
  await client.query(`UPDATE receipts SET reply = NULL, bound = NULL, body_hash = ''`);
  await t.rejects(change('reply', reply), { code: '23000' }, 'an empty receipt stays empty');
});

t.test('keeps the privileges of the roles through a rebuild', async (t) => {
  const { pool, url } = await testDatabase(t);
  const ofAll = () =>
    Promise.all(['service', 'service_read'].map((role) => privileges(pool, role)));
  const before = await ofAll();
  await rebuild(url, catalogue, projections);
  t.strictSame(await ofAll(), before);
});

t.test('runs every operation and job as service, and reads as service_read', async (t) => {
  const database = await testDatabase(t);
  const settings = {
    DATABASE_URL: asRole(database.url, 'service'),
    DATABASE_READ_URL: asRole(database.url, 'service_read'),
    SEAL_KEY: randomBytes(32).toString('hex'),
  };
  const { service } = await recordRun(t, async () => undefined, settings, database);
  t.notMatch(service.logged.join(''), /permission denied|must be owner/);
});

t.test('runs a worker, the maintenance of jobs and backups as service', async (t) => {
  const database = await testDatabase(t);
  const { pool } = database;
  const DATABASE_URL = asRole(database.url, 'service');
  const service = await startService(t, { DATABASE_URL }, database);
  // What a rebuild leaves that was killed: the worker drops it before it erases a member.
  await pool.query('CREATE SCHEMA rebuild; CREATE TABLE rebuild.members (handle text)');
  const env = { ...operatorEnv(service), DATABASE_URL, LOG_LEVEL: 'warn' };
  const worker = await startProcess(t, 'worker', ['ignore', 'pipe', 'inherit'], env);
  let logged = '';
  worker.child.stdout?.on('data', (text) => {
    logged += text;
  });
  await worker.untilServes();

  const note = await submit(service);
  const agent = await newAgent(service);
  const removal = { confirm_handle: agent.handle, erase_notes: true };
  t.equal((await agent.call('POST', '/api/v1/me/delete', removal)).status, 200);
  const hasWorked = async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM members, note_screenings
       WHERE member_id = $1 AND erased_at IS NOT NULL AND note_id = $2`,
      [agent.id, note.id],
    );
    return rowCount === 1;
  };
  while (!(await hasWorked())) await sleep(100);
  t.pass('the worker erases the member and screens the note');
  t.same(await rebuildTables(pool), []);

  const boss = await startCaller(DATABASE_URL, 'test maintenance');
  await boss.supervise();
  await boss.stop({ graceful: false });
  const folder = temporaryFolder('roles');
  t.teardown(folder.remove);
  const keys = parseServerKeys(env.SERVER_KEYS) ?? [];
  await createBackup(DATABASE_URL, join(folder.path, 'backup'), keys, 'correct horse battery');

  worker.child.kill('SIGTERM');
  t.same(await worker.end(), [0, null]);
  const warnings = logged.split('\n').filter((line) => line && !isStorageRefusal(line));
  t.same(warnings, [], 'the worker warns of nothing');
});
