import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { createBackup } from '../../cli/backup/create.ts';
import {
  checkFolder,
  type Manifest,
  parseManifest,
  readManifest,
  writeManifest,
} from '../../cli/backup/folder.ts';
import { loadBackup } from '../../cli/backup/load.ts';
import { releaseTables, requireSameTables, tablesOf } from '../../cli/backup/tables.ts';
import { verifyBackup, withScratchDatabase } from '../../cli/backup/verify-backup.ts';
import { newAgent } from '../../harness/agent.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { newKey } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { readConfig } from '../../platform/config.ts';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { formatServerKeys } from '../../platform/keys/server-keys.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { createCore } from '../../services/compose.ts';
import { IS_A_SANDBOX } from '../../services/sandbox.ts';
import { testDatabase } from '../support/database.ts';
import { fillFeed } from '../support/feed.ts';
import { sealAll } from '../support/sealed.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/svc.ts';

const PASSPHRASE = 'correct horse battery';

function newFolder(t: Test): string {
  const { path, remove } = temporaryFolder('backup');
  t.teardown(remove);
  return path;
}

/** Runs one of the commands; returns its exit status and output. */
async function run(name: string, args: string[], env: Record<string, string> = {}) {
  const all = { ...INHERITED_ENV, BACKUP_PASSPHRASE: PASSPHRASE, ...env };
  return promisify(execFile)(process.execPath, [`cli/${name}.ts`, ...args], { env: all }).then(
    (said) => ({ code: 0, ...said }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const envOf = ({ core, database }: Service) => ({
  DATABASE_URL: database.url,
  SERVER_KEYS: formatServerKeys(core.config.serverKeys ?? []),
});

/** Makes a backup in this process, which costs a quarter of the command. */
async function backUp({ core, database }: Service, folder: string): Promise<void> {
  await createBackup(database.url, folder, core.config.serverKeys ?? [], PASSPHRASE);
}

/** Verifies a backup as the command does, but in a database of the suite and not on a new server. */
async function verifyHere(t: Test, folder: string): Promise<string[]> {
  const { url } = await testDatabase(t, { empty: true });
  return verifyBackup(url, folder, await checkFolder(folder, PASSPHRASE));
}

/** Changes the manifest of a backup as someone who knows the passphrase could. */
function forge(folder: string, change: (manifest: Manifest) => void): void {
  const manifest = readManifest(folder);
  change(manifest);
  for (const name of ['json', 'sha256', 'seal']) rmSync(join(folder, `manifest.${name}`));
  writeManifest(folder, manifest, PASSPHRASE);
}

/** A service with members, notes with awkward texts, and a backup of it that was made under load. */
async function startBackedUp(t: Test) {
  const service = await startService(t);
  const agent = await newAgent(service);
  const post = (message: string) =>
    service.call('POST', '/api/guestbook', { body: { id: randomUUID(), message } });
  for (const message of ['plain', 'tab\tand\nlines', '\\N \\. \\\\', '𝒳 ü "quoted"'])
    await post(message);
  const before = (await agent.call('GET', '/api/v1/updates')).body;
  let writing = true;
  const load = (async () => {
    // Not as many as possible: on a slow machine, each test would store thousands.
    for (; writing; await sleep(20)) await post('meanwhile');
  })();
  const folder = join(newFolder(t), 'first');
  const said = await run('backup', [folder], envOf(service));
  writing = false;
  await load;
  t.match(said, {
    code: 0,
    stderr: '',
    stdout: /^Backed up \d+ events, up to position \d+ of epoch 1/,
  });
  return { service, agent, folder, before, post };
}

t.setTimeout(900_000);

let shared: ReturnType<typeof startBackedUp> | undefined;

/** A copy of one backup for the tests that leave its service as it is, and do not need another one. */
async function copyBackup(test: Test) {
  shared ??= startBackedUp(t);
  const { service, agent, folder } = await shared;
  const copy = join(newFolder(test), 'first');
  cpSync(folder, copy, { recursive: true });
  return { service, agent, folder: copy };
}

t.test('leaves neither server nor files where a signal ends the verification', async (t) => {
  const { folder } = await copyBackup(t);
  const scratch = newFolder(t);
  const env = { ...INHERITED_ENV, BACKUP_PASSPHRASE: PASSPHRASE, TMPDIR: scratch };
  const child = spawn(process.execPath, ['cli/verify.ts', folder], { env });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const ended = once(child, 'close');
  const serverId = (): number => {
    const file = readdirSync(scratch)
      .map((name) => join(scratch, name, 'data/postgres/data/postmaster.pid'))
      .find((path) => existsSync(path));
    return Number(file && readFileSync(file, 'utf8').split('\n')[0]);
  };
  await until(() => serverId() > 0 || child.exitCode !== null);
  const server = serverId();
  t.teardown(() => isAlive(server) && process.kill(server, 'SIGQUIT'));
  child.kill('SIGTERM');
  t.same([await ended, said], [[1, null], 'Ended by SIGTERM\n']);
  t.notOk(isAlive(server), 'the server has ended');
  t.same(readdirSync(scratch), []);
});

t.test('names TMPDIR where the disk of temporary files is full', async (t) => {
  const scratch = newFolder(t);
  const kept = process.env.TMPDIR;
  process.env.TMPDIR = scratch;
  t.teardown(() => {
    if (kept === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = kept;
  });
  const cause = new Error('the database system is in recovery mode');
  const fail = async () => {
    throw cause;
  };
  await t.rejects(
    withScratchDatabase(fail, () => 1_000_000),
    { message: `The disk of ${scratch}, for temporary files, is full: set TMPDIR to`, cause },
  );
  await t.rejects(withScratchDatabase(fail), { message: cause.message });
  t.same(readdirSync(scratch), []);
});

t.test('restores what was backed up, verified, into an empty database', async (t) => {
  const { service, agent, folder, before } = await startBackedUp(t);
  t.match(await run('verify', [folder]), {
    code: 0,
    stderr: '',
    stdout: /^Verified \d+ rows of \d+ tables and 1 server key, .*equals its rebuild\n$/,
  });
  await agent.call('POST', '/api/v1/me/credentials/rotate', agent.credential);
  const lost = await newAgent(service);
  const seen = (await lost.call('GET', '/api/v1/updates')).body;
  t.equal(seen.events.length, 2);

  const { url, pool } = await testDatabase(t, { empty: true });
  const env = { ...envOf(service), DATABASE_URL: url };
  const restored = await run('restore', [folder], env);
  t.match(restored, { code: 0, stderr: '', stdout: /^Epoch \d{13} of the log has begun/ });
  const { rows: jobs } = await pool.query('SELECT count(*)::int FROM pgboss.job');
  t.ok(jobs[0].count >= 4, 'screenings wait');
  const messages = `SELECT array_agg(message ORDER BY submitted_at) AS all FROM notes WHERE message <> 'meanwhile'`;
  const [ours, theirs] = [await pool.query(messages), await service.database.pool.query(messages)];
  t.same(ours.rows, theirs.rows);

  const next = await startService(t, env);
  const { id, sign_in_key } = agent;
  const login = await next.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal(login.status, 200);
  t.equal((await agent.call('GET', '/api/v1/me')).status, 200, 'the first service goes on');
  const body = { member_id: id, sign_in_key, ...agent.credential, credential_id: randomUUID() };
  const made = await next.call('POST', '/api/v1/credentials', {
    body,
    headers: { 'idempotency-key': randomUUID() },
  });
  t.equal(made.status, 201, made.text);
  const headers = {
    authorization: `Bearer svc_${body.credential_id}.${agent.credential.credential_secret}`,
  };
  const read = (cursor: string) =>
    next.call('GET', `/api/v1/updates?cursor=${cursor}`, { headers });
  t.same(
    (await read(before.next_cursor)).body.events.map(({ type }: { type: string }) => type),
    ['session.started', 'credential.created'],
  );
  t.match(await run('restore', [folder], env), {
    code: 1,
    stderr: 'The database is not empty: restore into a new one\n',
  });
});

t.test('says in one sentence what is wrong with a backup', async (t) => {
  const { service, folder } = await copyBackup(t);
  const fails = async (name: string, args: string[], stderr: string | RegExp, env = {}) =>
    t.match(await run(name, args, env), { code: 1, stdout: '', stderr });
  await fails('backup', [folder], `${folder} is not empty\n`, envOf(service));
  const wrong = 'The passphrase is not the one of this backup\n';
  const other = { BACKUP_PASSPHRASE: 'another passphrase' };
  await fails('verify', [folder], wrong, other);
  await fails('restore', [folder], wrong, { ...envOf(service), ...other });
  await fails('verify', [folder], 'The passphrase must have at least 12 characters\n', {
    BACKUP_PASSPHRASE: 'short',
  });
  await fails(
    'verify',
    [join(folder, 'none')],
    /holds no complete backup: manifest\.json is missing\n$/,
  );
  const foreign = { ...envOf(service), SERVER_KEYS: `1:${newKey()}` };
  await fails(
    'backup',
    [join(newFolder(t), 'x')],
    /^SERVER_KEYS has another secret for key 1/,
    foreign,
  );
  const { url } = await testDatabase(t, { empty: true });
  await fails(
    'restore',
    [folder],
    'SERVER_KEYS lacks key 1 of the backup: --print-keys shows the keys\n',
    {
      ...foreign,
      DATABASE_URL: url,
    },
  );
  t.match(await run('restore', [folder, '--print-keys']), {
    code: 0,
    stdout: `${envOf(service).SERVER_KEYS}\n`,
  });

  const copy = newFolder(t);
  cpSync(folder, copy, { recursive: true });
  forge(copy, (manifest) => {
    manifest.release = '7.7.7';
    const [first] = manifest.migrations;
    if (first) first.name = '0001-other';
  });
  await fails(
    'restore',
    [copy],
    /^The backup was made by release 7\.7\.7, which has other tables than this one \(.+\): restore it with that release\n$/,
    { ...envOf(service), DATABASE_URL: url },
  );
});

t.test('backs up large tables, and says which read model differs from the log', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await fillFeed(service, agent, 5000, 2000);
  const folder = newFolder(t);
  await backUp(service, folder);
  t.match(await run('verify', [folder]), {
    code: 1,
    stdout: '',
    stderr:
      'The backup is complete, but these read models differ from their rebuild: feed, feed_heads. ' +
      'Run npm run rebuild after a restore\n',
  });
});

t.test('finds in a backup an event that is not the one that was sealed', async (t) => {
  const service = await startService(t, { SEAL_KEY: randomBytes(32).toString('hex') });
  await newAgent(service);
  await sealAll(service);
  const folder = newFolder(t);
  const verified = async (name: string) => {
    await backUp(service, join(folder, name));
    return verifyHere(t, join(folder, name));
  };
  t.same(await verified('as-sealed'), []);
  await service.tamper('SELECT 1'); // the read models are not those of the log any more
  // As the owner of the tables, beside the trigger that protects the log.
  const client = await service.database.pool.connect();
  t.teardown(() => client.release(true));
  await client.query("SET session_replication_role = 'replica'");
  const { rows } = await client.query(
    `UPDATE events SET actor = '{"type": "operator"}' WHERE type = 'MemberRegistered' RETURNING position`,
  );
  t.equal(rows.length, 1);
  await t.rejects(verified('changed'), {
    message: `The backup is not the log that was sealed: position ${rows[0].position} (MemberRegistered): the event is not the one that was sealed`,
  });
});

t.test('finds a damaged byte anywhere', async (t) => {
  const { folder } = await copyBackup(t);
  await checkFolder(folder, PASSPHRASE);
  const names = readdirSync(folder);
  t.ok(names.length > 40);
  for (const name of names) {
    const file = join(folder, name);
    const whole = readFileSync(file);
    const places = [0, Math.floor(Math.random() * whole.length), whole.length - 1];
    for (const at of places) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      const damaged = name.startsWith('manifest') ? 'manifest.json' : name;
      const message =
        name === 'manifest.seal'
          ? /^The backup was changed: manifest\.json does not fit manifest\.seal/
          : `The backup is damaged: ${damaged} is not as it was written`;
      await t.rejects(checkFolder(folder, PASSPHRASE), { message });
    }
    writeFileSync(file, whole.subarray(0, -1));
    await t.rejects(
      checkFolder(folder, PASSPHRASE),
      /^The backup (is damaged|was changed)/,
      `${name} is cut`,
    );
    writeFileSync(file, whole);
  }
  await checkFolder(folder, PASSPHRASE);
  t.ok(
    names.every((name) => (statSync(join(folder, name)).mode & 0o077) === 0),
    'private files',
  );
});

t.test('refuses a manifest that was changed without the passphrase', async (t) => {
  const { folder } = await copyBackup(t);
  const file = join(folder, 'manifest.json');
  const text = readFileSync(file, 'utf8').replace('"epoch": 1', '"epoch": 2');
  writeFileSync(file, text);
  const sum = createHash('sha256').update(text).digest('hex');
  writeFileSync(join(folder, 'manifest.sha256'), `${sum}  manifest.json\n`);
  const changed = /^The backup was changed: manifest\.json does not fit manifest\.seal/;
  t.match(await run('verify', [folder]), { code: 1, stdout: '', stderr: changed });
  const { url } = await testDatabase(t, { empty: true });
  const env = { DATABASE_URL: url, SERVER_KEYS: `1:${newKey()}` };
  t.match(await run('restore', [folder], env), { code: 1, stdout: '', stderr: changed });
  writeFileSync(join(folder, 'manifest.seal'), '');
  t.match(await run('verify', [folder]), { code: 1, stderr: changed });
});

t.test('loads no file that was exchanged after it had been checked', async (t) => {
  const { folder } = await copyBackup(t);
  const backup = await checkFolder(folder, PASSPHRASE);
  const { url, pool } = await testDatabase(t, { empty: true });
  writeFileSync(join(folder, 'policies.copy.gz.sealed'), gzipSync(''));
  await t.rejects(
    loadBackup(url, folder, backup, async () => undefined),
    { message: 'The backup is damaged: policies.copy.gz.sealed is not as it was written' },
  );
  t.same((await pool.query('SELECT FROM events')).rowCount, 0, 'nothing is restored');
});

t.test('has no row that can be read without the passphrase', async (t) => {
  const { folder } = await copyBackup(t);
  const { manifest } = await checkFolder(folder, PASSPHRASE);
  for (const { name, file } of manifest.tables) {
    t.equal(file, `${name}.copy.gz.sealed`);
    t.throws(() => gunzipSync(readFileSync(join(folder, file))), name);
  }
});

t.test('puts no name from a manifest into a statement or a path', async (t) => {
  const { folder } = await copyBackup(t);
  const marker = join(newFolder(t), 'ran');
  const evil: [RegExp, (table: Manifest['tables'][number]) => void][] = [
    [
      /^manifest\.json of the backup is wrong at files: /,
      (table) => {
        table.name = `policies; COPY (SELECT 1) TO PROGRAM 'touch ${marker}'; --`;
      },
    ],
    [
      /^The table policies of the backup has the columns "code\) FROM PROGRAM/,
      (table) => {
        table.columns = [`code) FROM PROGRAM 'touch ${marker}' --`];
      },
    ],
    [
      /wrong at files: "\.\.\/policies\.copy\.gz\.sealed"/,
      (table) => {
        table.file = '../policies.copy.gz.sealed';
      },
    ],
  ];
  for (const [stderr, change] of evil) {
    const copy = newFolder(t);
    cpSync(folder, copy, { recursive: true });
    forge(copy, ({ tables }) => tables.filter(({ name }) => name === 'policies').forEach(change));
    t.match(await run('verify', [copy]), { code: 1, stdout: '', stderr });
  }
  t.notOk(existsSync(marker));
});

t.test('refuses a backup with other tables than those of the release', async (t) => {
  const table = (name: string, ...columns: string[]) => ({ name, columns });
  const release = [table('a', 'x', 'y'), table('b', 'z')];
  const refuses = (backup: typeof release, message: string) =>
    t.throws(() => requireSameTables(backup, release), { message });
  requireSameTables([table('b', 'z'), table('a', 'y', 'x')], release);
  refuses([table('a', 'x', 'y')], 'The backup lacks the tables b');
  const foreign = 'The backup has a table that this release does not have: ';
  refuses([...release, table('c')], `${foreign}"c"`);
  refuses([...release, table('a', 'x', 'y')], `${foreign}"a"`);
  const other = 'The table b of the backup has the columns ';
  refuses([table('a', 'x', 'y'), table('b', 'z', 'z')], `${other}"z, z", not z`);
  refuses([table('a', 'x', 'y'), table('b', 'other')], `${other}"other", not z`);
});

t.test('names what is wrong with a manifest', async (t) => {
  t.throws(() => parseManifest('{"format": 1}'), {
    message: 'The backup has the format 1, but this release reads 4: use the release that made it',
  });
  t.throws(
    () => parseManifest(`{"format": 4, "salt": "${'0'.repeat(32)}", "release": 7}`),
    /manifest\.json of the backup is wrong at release: /,
  );
});

t.test('verifies as a role that is no superuser', async (t) => {
  await withScratchDatabase(async (url) => {
    await withConnection(url, async (client) => {
      const { rows } = await client.query(
        'SELECT rolsuper FROM pg_roles WHERE rolname = current_user',
      );
      t.same(rows, [{ rolsuper: false }]);
      await t.rejects(client.query(`COPY (SELECT 1) TO PROGRAM 'true'`), { code: '42501' });
    });
  });
});

t.test('restores into the embedded server, and leaves no other role behind', async (t) => {
  const { service, agent, folder } = await copyBackup(t);
  const dataDir = join(newFolder(t), 'data');
  const { SERVER_KEYS } = envOf(service);
  t.match(await run('restore', [folder], { DATA_DIR: dataDir, SERVER_KEYS }), {
    code: 0,
    stderr: '',
  });
  const server = await embeddedPostgres({ dataDir });
  t.teardown(server.stop);
  await withConnection(server.url, async (client) => {
    const { rows } = await client.query(
      `SELECT (SELECT array_agg(DISTINCT relowner::regrole::text)
        FROM pg_class WHERE relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)) AS owners,
      (SELECT count(*)::int FROM pg_roles WHERE oid >= 16384) AS roles,
      (SELECT count(*)::int FROM members WHERE member_id = $1) AS members`,
      [agent.id],
    );
    t.same(rows, [{ owners: ['service_owner'], roles: 0, members: 1 }]);
  });
});

t.test('makes no backup without every table of the release, and leaves out others', async (t) => {
  const { url, pool } = await testDatabase(t);
  t.same(
    (await withConnection(url, tablesOf))
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('pgboss.'))
      .sort(),
    releaseTables().sort(),
    'the list of tables is that of the migrations',
  );
  const env = { DATABASE_URL: url, SERVER_KEYS: `1:${newKey()}` };
  await pool.query('CREATE TABLE of_another_program (n int)');
  const folder = newFolder(t);
  t.match(await run('backup', [join(folder, 'first')], env), {
    code: 0,
    stderr: 'Left out, since no migration made them: of_another_program\n',
  });
  t.same(await verifyHere(t, join(folder, 'first')), []);
  const fails = async (address: string, stderr: RegExp) =>
    t.match(await run('backup', [join(folder, 'next')], { ...env, DATABASE_URL: address }), {
      code: 1,
      stdout: '',
      stderr,
    });
  const inPath = new URL(url);
  inPath.searchParams.set('options', '-c search_path=app');
  await fails(inPath.href, /search_path leads to the schema/);
  await pool.query('CREATE SCHEMA app; ALTER TABLE cases SET SCHEMA app');
  await fails(url, /^The database lacks the tables cases, so a backup would as well\n$/);
  await pool.query('ALTER TABLE app.cases SET SCHEMA public');
  await pool.query(
    `INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, '9999-next', '')`,
  );
  await fails(url, /^The database is ahead: it has 9999-next, which this code lacks\n$/);
  t.notOk(existsSync(join(folder, 'next')));
});

t.test('says that the log has an event that no later release could read', async (t) => {
  const { url, pool } = await testDatabase(t);
  const env = { DATABASE_URL: url, SERVER_KEYS: `1:${newKey()}` };
  const append = (type: string, position: string) =>
    pool.query(
      `INSERT INTO events (owner_id, stream_id, stream_version, position, event_id, type, data, actor, recorded_at)
       OVERRIDING SYSTEM VALUE
       VALUES (gen_random_uuid(), 'one', 1, $1, gen_random_uuid(), $2, '{}', '{"type": "service"}', now())`,
      [position, type],
    );
  await append('FooHappened', '700');
  await append('FooHappened', '701');
  const folder = newFolder(t);
  const unknown =
    'The log has events of the unknown type FooHappened, the first at position 700: the backup can be restored, but neither verified nor rebuilt\n';
  const odd = join(folder, 'odd');
  t.match(await run('backup', [odd], env), { code: 0, stderr: unknown });
  t.match(await run('rebuild', [], env), {
    code: 1,
    stderr: 'unknown event type FooHappened at position 700 of the log\n',
  });
  const { url: empty } = await testDatabase(t, { empty: true });
  t.match(await run('restore', [odd], { ...env, DATABASE_URL: empty }), { code: 0 });

  const beyond = '9000000000000000000';
  await t.rejects(append('FooHappened', beyond), /events_position_exact/);
  await pool.query('ALTER TABLE events DROP CONSTRAINT events_position_exact');
  await append('FooHappened', beyond);
  const far = join(folder, 'far');
  t.match(await run('backup', [far], env), {
    code: 1,
    stdout: '',
    stderr: /^manifest\.json of the backup is wrong at position: /,
  });
  t.notOk(existsSync(join(far, 'manifest.json')), 'the folder is no backup');
});

t.test('refuses everywhere a database whose restore did not finish', async (t) => {
  const { service, folder } = await copyBackup(t);
  const { url, pool } = await testDatabase(t, { empty: true });
  const env = { ...envOf(service), DATABASE_URL: url };
  // As after a kill: the schema is complete, and no row was loaded.
  const backup = await checkFolder(folder, PASSPHRASE);
  await t.rejects(
    loadBackup(url, folder, backup, () => Promise.reject(new Error('killed'))),
    /killed/,
  );
  t.same((await pool.query('SELECT FROM events')).rowCount, 0);
  const stderr = /restore that did not finish: drop the database, create it again, and restore\n$/;
  t.match(await run('restore', [folder], env), { code: 1, stderr });
  t.match(await run('backup', [join(newFolder(t), 'none')], env), { code: 1, stderr });
  t.match(await run('rebuild', [], env), { code: 1, stderr });
  t.match(await run('../services/release', [], env), { code: 1, stderr });
  await t.rejects(createCore(readConfig(env), 'service test'), /restore that did not finish/);
  const { stdout } = await run('doctor', [], env);
  t.match(stdout, /^bad +migrations +The database holds a restore that did not finish: drop/m);
});

t.test('restores a sandbox with its mark, and never into a database in use', async (t) => {
  const database = await testDatabase(t);
  await database.pool.query('INSERT INTO sandbox DEFAULT VALUES');
  const service = await startService(t, { SANDBOX: 'true' }, database);
  await newAgent(service);
  const folder = join(newFolder(t), 'first');
  const env = { ...envOf(service), SANDBOX: 'true' };
  t.match(await run('backup', [folder], env), { code: 0, stderr: '' });

  const { url, pool } = await testDatabase(t, { empty: true });
  const restored = { ...env, DATABASE_URL: url };
  t.match(await run('restore', [folder], restored), { code: 0, stderr: '' });
  const marks = 'SELECT made_at::text, emptied_at::text FROM sandbox';
  t.same((await pool.query(marks)).rows, (await database.pool.query(marks)).rows);
  const release = (sandbox: string) =>
    run('../services/release', [], { ...restored, SANDBOX: sandbox });
  t.match(await release('false'), { code: 1, stderr: `${IS_A_SANDBOX}\n` });
  t.match(await release('true'), { code: 0 });
  const next = await startService(t, restored);
  t.equal((await (await newAgent(next)).call('GET', '/api/v1/me')).status, 200);

  const used = await startService(t);
  await newAgent(used);
  for (const sandbox of ['true', 'false']) {
    const wrong = { ...env, DATABASE_URL: used.database.url, SANDBOX: sandbox };
    t.match(await run('restore', [folder], wrong), { code: 1, stdout: '' });
  }
  const counts =
    'SELECT (SELECT count(*)::int FROM sandbox) AS marks, (SELECT count(*)::int FROM members) AS members';
  t.same((await used.database.pool.query(counts)).rows, [{ marks: 0, members: 1 }]);
});
