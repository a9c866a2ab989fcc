import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { MIGRATIONS, migrate, pendingMigrations } from '../../platform/postgres/migrate.ts';
import { projections } from '../../services/features.ts';
import { testDatabase } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';

type Files = Record<string, string>;

function createFolder(t: { teardown(end: () => void): unknown }, files: Files) {
  const { path: folder, remove } = temporaryFolder('migrations');
  t.teardown(remove);
  const add = (more: Files) => {
    for (const [name, sql] of Object.entries(more)) writeFileSync(join(folder, name), sql);
  };
  add(files);
  return { folder, add };
}

const one = { '0001-first.sql': 'CREATE TABLE a (n int); INSERT INTO a VALUES (1);' };
const two = { '0002-second.sql': 'INSERT INTO a VALUES (2);' };

t.test('applies each migration once, in order, and creates the job schema', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const query = (text: string) => pool.query(text);
  const { folder, add } = createFolder(t, one);
  t.same(await pendingMigrations(query, folder), ['0001-first']);
  t.same(await migrate(url, { folder }), ['0001-first']);
  add(two);
  t.same(await pendingMigrations(query, folder), ['0002-second']);
  t.same(await migrate(url, { folder }), ['0002-second']);
  t.same(await migrate(url, { folder }), []);
  t.same(await pendingMigrations(query, folder), []);
  t.same((await pool.query('SELECT array_agg(n) AS n FROM a')).rows, [{ n: [1, 2] }]);
  const jobs = await pool.query(`SELECT to_regclass('pgboss.job')::text AS job`);
  t.same(jobs.rows, [{ job: 'pgboss.job' }]);
});

t.test('gives a migration statistics of large tables that have none', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const { folder, add } = createFolder(t, {
    '0001-first.sql': `CREATE TABLE a (n int) WITH (autovacuum_enabled = off);
      INSERT INTO a SELECT generate_series(1, 40000);`,
  });
  await migrate(url, { folder });
  const counted = `SELECT reltuples::int AS n FROM pg_class WHERE relname = 'a'`;
  t.same((await pool.query(counted)).rows, [{ n: -1 }]);
  add({ '0002-second.sql': `CREATE TABLE seen AS ${counted};` });
  await migrate(url, { folder });
  t.same((await pool.query('SELECT n FROM seen')).rows, [{ n: 40_000 }]);
});

t.test('applies each migration once when processes migrate concurrently', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const { folder } = createFolder(t, { ...one, ...two });
  const script = `
    const { migrate } = await import(process.argv[1]);
    console.log((await migrate(process.argv[2], { folder: process.argv[3] })).length);`;
  const module = new URL('../../platform/postgres/migrate.ts', import.meta.url).href;
  const args = ['--input-type=module', '-e', script, module, url, folder];
  const runs = Array.from({ length: 5 }, () => promisify(execFile)(process.execPath, args));
  const applied = (await Promise.all(runs)).map((run) => Number(run.stdout));
  t.same(applied.sort(), [0, 0, 0, 0, 2]);
  t.same((await pool.query('SELECT count(*)::int AS n FROM a')).rows, [{ n: 2 }]);
});

t.test('rolls back a failed migration and names it', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const failing = { '0002-bad.sql': 'INSERT INTO a VALUES (2); SELECT broken;' };
  const { folder } = createFolder(t, { ...one, ...failing });
  await t.rejects(migrate(url, { folder }), /Migration 0002-bad failed/);
  t.same((await pool.query('SELECT n FROM a')).rows, [{ n: 1 }]);
});

t.test('refuses a changed, missing, late or misnamed migration', async (t) => {
  const { url } = await testDatabase(t, { empty: true });
  await migrate(url, { folder: createFolder(t, { ...one, '0003-third.sql': 'SELECT 3;' }).folder });
  const third = { '0003-third.sql': 'SELECT 3;' };
  const refused: [Files, RegExp][] = [
    [{ '0001-first.sql': 'SELECT 1;', ...third }, /has another 0001-first than this code/],
    [one, /database is ahead: it has 0003-third/],
    [{ ...one, ...two, ...third }, /lacks 0002-second, but has what comes after/],
    [{ ...one, ...third, '4-x.sql': '' }, /4-x\.sql is not named like/],
    [{ ...one, ...third, '0003-again.sql': '' }, /Two migrations have the number of/],
  ];
  for (const [files, message] of refused)
    await t.rejects(migrate(url, { folder: createFolder(t, files).folder }), message);
});

t.test('upgrades a database whose indexes an earlier rebuild named anew', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const first = readFileSync(join(MIGRATIONS, '0001-schema.sql'), 'utf8');
  await migrate(url, { folder: createFolder(t, { '0001-schema.sql': first }).folder });
  await pool.query('CREATE SCHEMA rebuild');
  for (const table of projections.flatMap(({ tables }) => tables))
    await pool.query(`DO $$ BEGIN IF to_regclass('public.${table}') IS NOT NULL THEN
      CREATE TABLE rebuild.${table} (LIKE public.${table} INCLUDING ALL);
      DROP TABLE public.${table}; ALTER TABLE rebuild.${table} SET SCHEMA public; END IF; END $$`);
  await migrate(url);
  const usual = await testDatabase(t, { empty: true });
  await migrate(usual.url);
  const indexes = async (of: pg.Pool) => {
    const { rows } =
      await of.query(`SELECT substring(indexdef FROM ' ON .*') AS index FROM pg_indexes
      WHERE schemaname = 'public' ORDER BY 1`);
    return rows.map(({ index }) => index);
  };
  t.same(await indexes(pool), await indexes(usual.pool));
});

t.test('refuses a database made by a development version before 0.9.0', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  await migrate(url, {
    folder: createFolder(t, { '0001-events.sql': 'SELECT 1;', '0002-membership.sql': 'SELECT 2;' })
      .folder,
  });
  await t.rejects(migrate(url), /made by a development version before 0\.9\.0/);
  const pending = await pendingMigrations((text) => pool.query(text));
  t.equal(pending[0], '0001-schema', 'the database is not ready');
  t.same((await pool.query(`SELECT to_regclass('events') AS events`)).rows, [{ events: null }]);
});

t.test('treats a database that is ahead as ready', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  await migrate(url, { folder: createFolder(t, { ...one, ...two }).folder });
  t.same(await pendingMigrations((text) => pool.query(text), createFolder(t, one).folder), []);
});

t.test('gives every test database the migrations of the project', async (t) => {
  const { pool } = await testDatabase(t);
  t.same(await pendingMigrations((text) => pool.query(text), MIGRATIONS), []);
});

t.test('refuses a database with other settings and names all of them', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const name = new URL(url).pathname.slice(1);
  const set = (setting: string) => pool.query(`ALTER DATABASE ${name} SET ${setting}`);
  await set(`DateStyle = 'SQL, DMY'`);
  await set(`default_transaction_isolation = 'repeatable read'`);
  const faults = /DateStyle is SQL, DMY: .*\n.*default_transaction_isolation is repeatable read: /;
  await t.rejects(migrate(url), faults);
  await set(`DateStyle = 'ISO, DMY'`);
  await set(`default_transaction_isolation = 'read committed'`);
  await migrate(url);

  const other = new URL(url);
  other.pathname = `/${name}_latin`;
  await pool.query(`CREATE DATABASE ${name}_latin TEMPLATE template0 ENCODING 'LATIN1'
    LOCALE_PROVIDER libc LOCALE 'C'`);
  t.teardown(() => pool.query(`DROP DATABASE ${name}_latin WITH (FORCE)`));
  await t.rejects(migrate(other.href), /encoding of the database is LATIN1: /);
});

t.test('makes tables in public alone, and finds those in another schema', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const name = new URL(url).pathname.slice(1);
  const set = (path: string) => pool.query(`ALTER DATABASE ${name} SET search_path = ${path}`);
  await pool.query('CREATE SCHEMA app; CREATE TABLE app.log_epochs ()');
  await set('app, public');
  const fault =
    /tables of the service are in the schema app, not in public: DROP SCHEMA public; ALTER SCHEMA app RENAME TO public\n.*search_path leads to the schema app, not to public: ALTER ROLE \S+ IN DATABASE \S+ SET search_path = public/;
  await t.rejects(migrate(url), fault);
  await set('public');
  await t.rejects(
    migrate(url),
    /tables of the service are in the schema app/,
    'no empty second set',
  );
  await pool.query('DROP TABLE app.log_epochs');
  await migrate(url);
  const inPath = new URL(url);
  inPath.searchParams.set('options', '-c search_path=app');
  await t.rejects(migrate(inPath.href), /search_path leads to the schema app/);
});

t.test('refuses settings with which statements mean something else', async (t) => {
  const { url } = await testDatabase(t, { empty: true });
  const wrong = {
    array_nulls: 'off',
    standard_conforming_strings: 'off',
    quote_all_identifiers: 'on',
    default_transaction_read_only: 'on',
  };
  for (const [name, value] of Object.entries(wrong)) {
    const address = new URL(url);
    address.searchParams.set('options', `-c ${name}=${value}`);
    const right = value === 'on' ? 'off' : 'on';
    const expected = new RegExp(`${name} is ${value}.*SET ${name} = ${right}`);
    await t.rejects(migrate(address.href), expected);
  }
});

t.test('refuses a pooler, which would keep the lock after the release has ended', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const pooled = await startPooler(t, url);
  await t.rejects(migrate(pooled), /leads through a pooler.*set DATABASE_DIRECT_URL/);
  t.same((await pool.query(`SELECT to_regclass('schema_migrations') AS made`)).rows, [
    { made: null },
  ]);
});

t.test('says who holds the lock of a release, and gives up', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const holder = new pg.Client({ connectionString: url, application_name: 'forgotten' });
  await holder.connect();
  await holder.query(`SELECT pg_advisory_lock(hashtext('schema_migrations'))`);
  const { rows } = await holder.query('SELECT pg_backend_pid() AS pid');
  const said: string[] = [];
  const tell = (line: string) => void said.push(line);
  const held = `The lock schema_migrations is held by process ${rows[0].pid} (forgotten, since `;
  const failed = migrate(url, { tell, tellEveryMs: 0, patienceMs: 3000 });
  t.ok((await failed.catch(({ message }: Error) => message)).includes(held));
  t.ok(said.length > 0 && said.every((line) => line.startsWith(held)), said.join());
  await holder.end();
  t.ok((await migrate(url)).length > 0);
  const locks = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND database =
    (SELECT oid FROM pg_database WHERE datname = current_database())`;
  t.equal((await pool.query(locks)).rowCount, 0);
});
