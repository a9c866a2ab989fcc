import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { openCore } from '../services/app.ts';
import { readConfig } from '../services/config.ts';
import { freePort } from './harness/free-port.ts';
import { newKey, signedIn, startService } from './harness/service.ts';

const file = (path: string) => join(import.meta.dirname, '..', path);
const [first, second] = [`1:${newKey()}`, `2:${newKey()}`];

/** A database with one member, one session and one note, all under key 1. */
async function used(t: Test) {
  const service = await startService(t, { SERVER_KEYS: first });
  await signedIn(service);
  await service.call('POST', '/api/guestbook', { body: { id: randomUUID(), message: 'Hello' } });
  const { url, pool } = service.database;
  const env = (SERVER_KEYS: string) => ({ PATH: process.env.PATH, DATABASE_URL: url, SERVER_KEYS });
  return { url, pool, env };
}

t.test(
  'the service starts with old keys in the ring, and refuses without one in use',
  async (t) => {
    const { url, pool, env } = await used(t);
    const open = (keys: string) =>
      openCore(readConfig({ DATABASE_URL: url, SERVER_KEYS: keys }), 'test');
    await (await open(`${second},${first}`)).close();
    const refusal = /SERVER_KEYS lacks key 1, which 2 verifiers, 1 handles, 1 sessions need/;
    await t.rejects(open(second), refusal);

    await pool.query('DELETE FROM verifiers');
    await t.rejects(open(second), /lacks key 1, which 1 handles, 1 sessions need/);
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
    await (await open(second)).close();
  },
);

t.test('the keys command tells what stands under which key', async (t) => {
  const { env } = await used(t);
  const status = async (keys: string) => {
    const args = [file('services/keys-command.ts'), 'status'];
    return (await promisify(execFile)(process.execPath, args, { env: env(keys) })).stdout;
  };
  const head = 'key\tstate\tverifiers\thandles\tsessions\treceipts\n';
  // The registration's receipt binds two keys, the note's its text.
  t.equal(
    await status(`${second},${first}`),
    `${head}2\tnewest\t0\t0\t0\t0\n1\theld\t2\t1\t1\t3\n`,
  );
  t.equal(await status(second), `${head}2\tnewest\t0\t0\t0\t0\n1\tMISSING\t2\t1\t1\t3\n`);
});
