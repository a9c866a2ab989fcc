import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { checkFolder } from '../../cli/backup/folder.ts';
import { formatServerKeys } from '../../cli/backup/sealed-keys.ts';
import { newAgent } from '../../harness/agent.ts';
import { newKey } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { testDatabase } from '../support/database.ts';
import { fillFeed } from '../support/feed.ts';
import { type Service, startService } from '../support/service.ts';

const PASSPHRASE = 'correct horse battery';

function newFolder(t: Test): string {
  const { path, remove } = temporaryFolder('backup');
  t.teardown(remove);
  return path;
}

/** Runs one of the commands; returns its exit status and output. */
async function run(name: string, args: string[], env: Record<string, string> = {}) {
  const all = { PATH: process.env.PATH, BACKUP_PASSPHRASE: PASSPHRASE, ...env };
  return promisify(execFile)(process.execPath, [`cli/${name}.ts`, ...args], { env: all }).then(
    (said) => ({ code: 0, ...said }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

const envOf = ({ core, database }: Service) => ({
  DATABASE_URL: database.url,
  SERVER_KEYS: formatServerKeys(core.config.serverKeys ?? []),
});

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
    while (writing) await post('meanwhile');
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

t.test('restores what was backed up, verified, into an empty database', async (t) => {
  const { service, agent, folder, before } = await startBackedUp(t);
  t.match(await run('verify', [folder]), {
    code: 0,
    stderr: '',
    stdout: /^Verified \d+ rows of \d+ tables and 1 server keys, .*equals its rebuild\n$/,
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
  const { service, folder } = await startBackedUp(t);
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

  // Of another release: a migration of another name, and the checksum of the manifest as it should be.
  const copy = newFolder(t);
  cpSync(folder, copy, { recursive: true });
  const text = readFileSync(join(copy, 'manifest.json'), 'utf8')
    .replace('0001-schema', '0001-other')
    .replace(/"release": "[^"]+"/, '"release": "7.7.7"');
  writeFileSync(join(copy, 'manifest.json'), text);
  const sum = createHash('sha256').update(text).digest('hex');
  writeFileSync(join(copy, 'manifest.sha256'), `${sum}  manifest.json\n`);
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
  t.match(await run('backup', [folder], envOf(service)), { code: 0 });
  t.match(await run('verify', [folder]), {
    code: 1,
    stdout: '',
    stderr:
      'The backup is complete, but these read models differ from their rebuild: feed, feed_heads. ' +
      'Run npm run rebuild after a restore\n',
  });
});

t.test('finds a damaged byte anywhere', async (t) => {
  const { folder } = await startBackedUp(t);
  await checkFolder(folder);
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
      await t.rejects(checkFolder(folder), {
        message: `The backup is damaged: ${damaged} is not as it was written`,
      });
    }
    writeFileSync(file, whole.subarray(0, -1));
    await t.rejects(checkFolder(folder), /^The backup is damaged/, `${name} is cut`);
    writeFileSync(file, whole);
  }
  await checkFolder(folder);
  t.ok(
    names.every((name) => (statSync(join(folder, name)).mode & 0o077) === 0),
    'private files',
  );
});
