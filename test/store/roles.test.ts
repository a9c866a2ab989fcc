import pg from 'pg';
import t from 'tap';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../projections/registry.ts';
import { asRole, testDatabase } from '../support/database.ts';

const WORDS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'];

/** What a role may do with each table; in parentheses, with which columns alone. */
async function privileges(pool: pg.Pool, role: string): Promise<Record<string, string>> {
  const { rows } = await pool.query<{ name: string; privileges: string }>(
    `SELECT c.oid::regclass::text AS name, string_agg(word || coalesce(' (' || columns || ')', ''), ', '
       ORDER BY turn) AS privileges
     FROM pg_class c, unnest($2::text[]) WITH ORDINALITY AS given (word, turn),
       LATERAL (SELECT has_table_privilege($1, c.oid, word) AS whole) whole,
       LATERAL (SELECT CASE WHEN NOT whole THEN string_agg(attname, ', ' ORDER BY attname) END AS columns
         FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
           AND word NOT IN ('DELETE', 'TRUNCATE', 'TRIGGER')
           AND has_column_privilege($1, c.oid, attnum, CASE WHEN word IN ('DELETE', 'TRUNCATE', 'TRIGGER')
             THEN 'SELECT' ELSE word END)) part
     WHERE relkind IN ('r', 'p') AND NOT relispartition AND (whole OR columns IS NOT NULL)
       AND relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)
     GROUP BY 1 ORDER BY 1`,
    [role, WORDS],
  );
  return Object.fromEntries(rows.map(({ name, privileges }) => [name, privileges]));
}

const READ = [
  ...['activity', 'artifacts', 'case_notes', 'case_reviews', 'case_submissions', 'cases'],
  ...['handles', 'members', 'notes', 'policies', 'profiles'],
];

t.test('grants each role what it needs and nothing else', async (t) => {
  const { pool } = await testDatabase(t);
  const { rows } = await pool.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
       AND relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)`,
  );
  t.strictSame(await privileges(pool, 'service'), {
    ...Object.fromEntries(rows.map(({ name }) => [name, 'SELECT, INSERT, UPDATE, DELETE'])),
    events: 'SELECT, INSERT, UPDATE (personal)',
    receipts: 'SELECT, INSERT, UPDATE (body_hash, bound, reply)',
    feed: 'SELECT, INSERT',
    feed_heads: 'SELECT, INSERT, UPDATE',
    feed_restores: 'SELECT',
    log_epochs: 'SELECT',
    schema_migrations: 'SELECT',
    server_keys: 'SELECT, INSERT',
  });
  t.strictSame(
    await privileges(pool, 'service_read'),
    Object.fromEntries(READ.map((name) => [name, 'SELECT'])),
  );
  t.strictSame(await privileges(pool, 'service_metrics'), {});
  const monitors = await pool.query(`SELECT pg_has_role('service_metrics', 'pg_monitor', 'USAGE')`);
  t.same(monitors.rows, [{ pg_has_role: true }]);
});

const REFUSED = [
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
  'CREATE TABLE other ()',
  'CREATE SCHEMA other',
  'CREATE TABLE pgboss.other ()',
];

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

t.test('keeps the privileges of the roles through a rebuild', async (t) => {
  const { pool, url } = await testDatabase(t);
  const ofAll = () =>
    Promise.all(['service', 'service_read'].map((role) => privileges(pool, role)));
  const before = await ofAll();
  await rebuild(url, catalogue, projections);
  t.strictSame(await ofAll(), before);
});
