import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { newKey, signedIn } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { readConfig } from '../../platform/config.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { handleKeys } from '../../projections/membership/members.ts';
import { verifierKeys } from '../../projections/membership/verifiers.ts';
import { createCore } from '../../services/compose.ts';
import { testDatabase } from '../support/database.ts';
import { countRowsRead } from '../support/rows-read.ts';
import { startService } from '../support/service.ts';

const file = (path: string) => join(import.meta.dirname, '../..', path);
const [first, second] = [`1:${newKey()}`, `2:${newKey()}`];

/** Creates a database with one member, one session and one note, all under key 1. */
async function createUsedDatabase(t: Test) {
  const service = await startService(t, { SERVER_KEYS: first });
  await signedIn(service);
  await service.call('POST', '/api/guestbook', { body: { id: randomUUID(), message: 'Hello' } });
  const { url, pool } = service.database;
  const env = (SERVER_KEYS: string) => ({ ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS });
  return { url, pool, env };
}

t.test('reports a database that was never set up', async (t) => {
  const { url } = await testDatabase(t, { empty: true });
  await t.rejects(createCore(readConfig({ DATABASE_URL: url, SERVER_KEYS: first }), 'test'), {
    message: 'The database is not set up: npm run release does that',
  });
});

t.test('starts with an old key in the ring and refuses without a used one', async (t) => {
  const { url, pool, env } = await createUsedDatabase(t);
  const open = (keys: string) =>
    createCore(readConfig({ DATABASE_URL: url, SERVER_KEYS: keys }), 'test');
  await (await open(`${second},${first}`)).close();
  const refusal = /SERVER_KEYS lacks key 1, which verifiers, handles, sessions need/;
  await t.rejects(open(second), refusal);

  await pool.query('DELETE FROM verifiers');
  await t.rejects(open(second), /lacks key 1, which handles, sessions need/);
  const web = spawn(process.execPath, [file('services/web.ts')], {
    env: { ...env(second), PORT: await freePort(), METRICS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  web.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  t.same(await once(web, 'close'), [1, null]);
  t.match(output, /SERVER_KEYS lacks key 1/);

  await pool.query(`UPDATE sessions SET expires_at = now() - interval '1 second'`);
  await t.rejects(open(second), /lacks key 1, which handles need/);
});

t.test('refuses another secret for a used key id', async (t) => {
  const { url, pool, env } = await createUsedDatabase(t);
  const open = (keys: string) =>
    createCore(readConfig({ DATABASE_URL: url, SERVER_KEYS: keys }), 'test');
  const [another, fourth] = [`1:${newKey()}`, `4:${newKey()}`];
  const refusal =
    /another secret for key 1 than this database was used with\. Put the old one back/;
  await t.rejects(open(another), refusal);
  await t.rejects(open(`${second},${another}`), refusal);
  const { rows } = await pool.query('SELECT * FROM server_keys');
  for (const key of [first, second, another])
    t.notMatch(JSON.stringify(rows), key.split(':')[1], 'no secret is stored');

  // If several processes start for the first time together, the keys of one of them are recorded.
  await pool.query('DELETE FROM server_keys');
  const rings = Array.from({ length: 4 }, () => open(`${fourth},${first}`));
  for (const core of await Promise.all(rings)) await core.close();
  await t.rejects(open(another), refusal);
  await t.rejects(open(`4:${newKey()},${first}`), /another secret for key 4/);
  await (await open(`${first},${fourth}`)).close();

  const args = [file('cli/keys.ts'), 'status'];
  const status = await promisify(execFile)(process.execPath, args, { env: env(another) });
  t.match(status.stdout, /^1\tANOTHER SECRET\t1\t1\t/m);
});

t.test('records no key in a refused start', async (t) => {
  const { url } = await createUsedDatabase(t);
  const open = (keys: string) =>
    createCore(readConfig({ DATABASE_URL: url, SERVER_KEYS: keys }), 'test');
  const mistaken = `2:${newKey()}`;
  await t.rejects(open(mistaken), /lacks key 1/);
  await t.rejects(open(`${mistaken},1:${newKey()}`), /another secret for key 1 /);
  await (await open(`${second},${first}`)).close();
});

t.test('creates no key by the keys command without an instance', async (t) => {
  const { path, remove } = temporaryFolder('keys');
  t.teardown(remove);
  const env = { ...INHERITED_ENV, DATA_DIR: join(path, 'data') };
  const args = [file('cli/keys.ts'), 'status'];
  await t.rejects(promisify(execFile)(process.execPath, args, { env }), /No instance runs/);
  t.notOk(existsSync(join(path, 'data')));
});

t.test('lists what each key is used for', async (t) => {
  const { env } = await createUsedDatabase(t);
  const status = async (keys: string) => {
    const args = [file('cli/keys.ts'), 'status'];
    return (await promisify(execFile)(process.execPath, args, { env: env(keys) })).stdout;
  };
  const head =
    'key\tstate\tsign_in\trecovery\tcredentials\tmoderators\thandles\tsessions\treceipts\n';
  // The registration's receipt binds two keys, and the note's receipt binds its text: 3 in all.
  t.equal(
    await status(`${second},${first}`),
    `${head}2\tnewest\t0\t0\t0\t0\t0\t0\t0\n1\theld\t1\t1\t0\t0\t1\t1\t3\n`,
  );
  t.equal(
    await status(second),
    `${head}2\tnewest\t0\t0\t0\t0\t0\t0\t0\n1\tMISSING\t1\t1\t0\t0\t1\t1\t3\n`,
  );
});

t.test('finds the used keys without reading their rows', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    await client.query(`INSERT INTO verifiers (owner_id, purpose, subject_id, key_id, hash)
      SELECT gen_random_uuid(), 'sign-in', gen_random_uuid(), 1 + n % 2 * 6, '' FROM generate_series(1, 3000) n`);
    await client.query(`INSERT INTO handles (hash, key_id, member_id)
      SELECT n, 3, gen_random_uuid() FROM generate_series(1, 3000) n`);
    for (const [statement, createUsedDatabase] of [
      [verifierKeys(), [1, 7]],
      [handleKeys(), [3]],
    ] as const) {
      t.same(
        (await client.query(statement.text)).rows,
        createUsedDatabase.map((key_id) => ({ key_id })),
      );
      const rows = await countRowsRead(client, statement);
      t.ok(rows <= createUsedDatabase.length, `${rows} rows`);
      await client.query('ANALYZE');
      t.ok(
        (await countRowsRead(client, statement)) <= createUsedDatabase.length,
        'the same with statistics',
      );
    }
    await client.query('DELETE FROM verifiers');
    t.same((await client.query(verifierKeys().text)).rows, []);
  });
});

t.test('gives the keys command more time than a request', async (t) => {
  const { env, url } = await createUsedDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET statement_timeout = '1s'`,
    );
    await client.query('BEGIN; LOCK TABLE receipts IN ACCESS EXCLUSIVE MODE');
    const args = [file('cli/keys.ts'), 'status'];
    const status = promisify(execFile)(process.execPath, args, { env: env(first) });
    const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
      AND application_name = 'service keys' AND now() - query_start > interval '4 seconds'`;
    const ended = status.then(
      () => true,
      () => true,
    );
    // Poll on another connection: in the locking transaction, `now()` never changes.
    await withConnection(url, async (other) => {
      while ((await other.query(waits)).rowCount === 0)
        if (await Promise.race([ended, sleep(100, false)])) break;
    });
    await client.query('COMMIT');
    t.match((await status).stdout, /^1\tnewest\t1\t1\t0\t0\t1\t1\t3$/m);
  });
});
