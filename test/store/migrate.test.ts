import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { MIGRATIONS, migrate, pendingMigrations } from '../../platform/postgres/migrate.ts';
import { testDatabase } from '../support/database.ts';

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
  t.same(await migrate(url, folder), ['0001-first']);
  add(two);
  t.same(await pendingMigrations(query, folder), ['0002-second']);
  t.same(await migrate(url, folder), ['0002-second']);
  t.same(await migrate(url, folder), []);
  t.same(await pendingMigrations(query, folder), []);
  t.same((await pool.query('SELECT array_agg(n) AS n FROM a')).rows, [{ n: [1, 2] }]);
  const jobs = await pool.query(`SELECT to_regclass('pgboss.job')::text AS job`);
  t.same(jobs.rows, [{ job: 'pgboss.job' }]);
});

t.test('applies each migration once when processes migrate concurrently', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const { folder } = createFolder(t, { ...one, ...two });
  const script = `
    const { migrate } = await import(process.argv[1]);
    console.log((await migrate(process.argv[2], process.argv[3])).length);`;
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
  await t.rejects(migrate(url, folder), /Migration 0002-bad failed/);
  t.same((await pool.query('SELECT n FROM a')).rows, [{ n: 1 }]);
});

t.test('refuses a changed, missing, late or misnamed migration', async (t) => {
  const { url } = await testDatabase(t, { empty: true });
  await migrate(url, createFolder(t, { ...one, '0003-third.sql': 'SELECT 3;' }).folder);
  const third = { '0003-third.sql': 'SELECT 3;' };
  const refused: [Files, RegExp][] = [
    [{ '0001-first.sql': 'SELECT 1;', ...third }, /has another 0001-first than this code/],
    [one, /database is ahead: it has 0003-third/],
    [{ ...one, ...two, ...third }, /lacks 0002-second, but has what comes after/],
    [{ ...one, ...third, '4-x.sql': '' }, /4-x\.sql is not named like/],
    [{ ...one, ...third, '0003-again.sql': '' }, /Two migrations have the number of/],
  ];
  for (const [files, message] of refused)
    await t.rejects(migrate(url, createFolder(t, files).folder), message);
});

t.test('refuses a database made by a development version before 0.9.0', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  await migrate(
    url,
    createFolder(t, { '0001-events.sql': 'SELECT 1;', '0002-membership.sql': 'SELECT 2;' }).folder,
  );
  await t.rejects(migrate(url), /made by a development version before 0\.9\.0/);
  const pending = await pendingMigrations((text) => pool.query(text));
  t.equal(pending[0], '0001-schema', 'the database is not ready');
  t.same((await pool.query(`SELECT to_regclass('events') AS events`)).rows, [{ events: null }]);
});

t.test('treats a database that is ahead as ready', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  await migrate(url, createFolder(t, { ...one, ...two }).folder);
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
