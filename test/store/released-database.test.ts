import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { createApi } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { submit } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { readModels } from '../../harness/rebuilt.ts';
import { newKey } from '../../harness/registration.ts';
import { migrate, readMigrations } from '../../platform/postgres/migrate.ts';
import { proveReadModels } from '../../projections/rebuild/prove.ts';
import { catalogue, projections } from '../../services/features.ts';
import { splitWordsOfOldRows } from '../../workers/search/split-words.ts';
import { firstMigrations } from '../support/migration-folders.ts';
import { startProcess } from '../support/processes.ts';
import { release090, releasedDatabase } from '../support/released-database.ts';

t.setTimeout(600_000);

/** The rows of read models that differ from the log, each as one line. */
async function differences(url: string): Promise<string[]> {
  const found: string[] = [];
  await proveReadModels(url, catalogue, projections, {
    found: ({ table, key, kind, columns }) =>
      found.push(`${table} ${JSON.stringify(key)} ${kind} ${columns.join(', ')}`),
  });
  return found.sort();
}

async function splitWords(pool: pg.Pool): Promise<void> {
  while ((await splitWordsOfOldRows(pool)) > 0);
}

/** Runs a command of the project on a database; returns its output. Throws if it fails. */
async function run(url: string, file: string, ...args: string[]): Promise<string> {
  const env = { ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS: release090.server_keys };
  return (await promisify(execFile)(process.execPath, [file, ...args], { env })).stdout;
}

/** Waits until a statement returns one row with the value true. */
async function until(t: Test, pool: pg.Pool, what: string, statement: string): Promise<void> {
  while (!(await pool.query(`SELECT (${statement}) AS holds`)).rows[0].holds) await sleep(100);
  t.pass(what);
}

t.test('upgrades a database of 0.9.0 one migration at a time', async (t) => {
  const { url, pool } = await releasedDatabase(t);
  const log = async () =>
    (await pool.query('SELECT event_id, type, data, personal FROM events ORDER BY position')).rows;
  const before = await log();
  const migrations = readMigrations();
  for (const [index, { name }] of migrations.entries())
    t.same(
      await migrate(url, { folder: firstMigrations(t, index + 1) }),
      index < release090.migrations.length ? [] : [name],
    );
  t.same(await log(), before, 'no migration changed an event');
  await splitWords(pool);
  t.same(await differences(url), []);
});

t.test('upgrades a database of 0.9.0 that processes then serve', async (t) => {
  const { url, pool } = await releasedDatabase(t);
  const applied = await run(url, 'services/release.ts');
  t.equal(
    applied,
    `Applied ${readMigrations()
      .slice(1)
      .map(({ name }) => name)
      .join(', ')}\n`,
  );
  const settings = {
    DATABASE_URL: url,
    SERVER_KEYS: release090.server_keys,
    SEAL_KEY: newKey(),
    LOG_LEVEL: 'error',
    // The counters of before are in the database.
    LIMIT_NOTES_PER_TEN_MINUTES: '1000',
    LIMIT_NOTES_PER_DAY: '1000',
    WORKER_METRICS_PORT: await freePort(),
  };
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  const web = await startProcess(t, 'web', [...stdio], settings);
  const worker = await startProcess(t, 'worker', [...stdio], settings);
  await web.untilServes();
  const api = patient(createApi(web.base.replace('127.0.0.1', 'localhost')));

  const { id, sign_in_key } = release090.member;
  const login = await api.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal(login.status, 200, 'a member signs in');
  const gone = await api.call('POST', '/api/membership/login', { body: release090.deleted });
  t.equal(gone.status, 401, 'a member who left does not');
  const guestbook = await api.call('GET', '/api/guestbook');
  t.ok(
    guestbook.body.entries.some((note: { id: string }) => note.id === release090.approved_note),
    'an approved note is public',
  );
  const found = await api.call('GET', `/api/v1/cases/${release090.closed_case}`);
  t.equal(found.body.case.state, 'accepted', found.text);
  const headers = { authorization: `Bearer ${release090.lead}` };
  const queue = await api.call('GET', '/api/moderation/queue', { headers });
  t.equal(queue.status, 200, queue.text);
  t.ok(queue.body.items.length > 10, 'a moderator of before reads the queue');
  const note = await submit(api, { message: 'The first note after the upgrade' });

  await worker.untilServes();
  await until(
    t,
    pool,
    'waiting jobs of before have run, and none failed',
    `NOT EXISTS (SELECT FROM pgboss.job WHERE state IN ('created', 'retry', 'active')
      AND name IN ('screen-note', 'tell-author', 'tell-removal', 'erase-member'))`,
  );
  const failed = await pool.query(`SELECT name, output FROM pgboss.job WHERE state = 'failed'`);
  t.same(failed.rows, []);
  await until(
    t,
    pool,
    'the note is screened',
    `EXISTS (SELECT FROM note_screenings WHERE note_id = '${note.id}')`,
  );
  await until(
    t,
    pool,
    'the texts of before are split into words',
    `EXISTS (SELECT FROM pgboss.job WHERE name = 'split-words' AND state = 'completed')`,
  );
  await until(
    t,
    pool,
    'the log is sealed to its end',
    `(SELECT position FROM seal_trees ORDER BY epoch DESC LIMIT 1) = (SELECT max(position) FROM events)`,
  );
  web.child.kill('SIGTERM');
  worker.child.kill('SIGTERM');
  t.same(await Promise.all([web.end(), worker.end()]), [
    [0, null],
    [0, null],
  ]);

  t.match(await run(url, 'cli/verify.ts', '--live'), /^Proven: \d+ rows of every read model equal/);
  t.match(await run(url, 'cli/verify.ts', '--seal'), /: the log equals its sealed tree\n$/);
  const before = await readModels(pool);
  await run(url, 'cli/rebuild.ts');
  t.same(await readModels(pool), before, 'a rebuild changes nothing');
});
