import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { clientConfig, withConnection } from '../../platform/postgres/connection.ts';
import { verifySeal } from '../../services/seal/verify-seal.ts';
import { testDatabase } from '../support/database.ts';

const PROCESS = join(import.meta.dirname, '../support/sealing-process.ts');
const EVENTS = 12_000;

t.test('a worker that is killed while it seals leaves log and tree equal', async (t) => {
  const { url, pool } = await testDatabase(t);
  await pool.query(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor,
       recorded_at)
     SELECT gen_random_uuid(), 'member-' || n, 1, gen_random_uuid(), 'Made', jsonb_build_object('n', n),
       CASE WHEN n % 2 = 0 THEN '{"text": "Words"}'::jsonb END, '{"type": "service"}', clock_timestamp()
     FROM generate_series(1, $1::int) n`,
    [EVENTS],
  );
  const env = {
    ...INHERITED_ENV,
    DATABASE_URL: url,
    BASE_URL: 'http://127.0.0.1:3000',
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    SEAL_KEY: randomBytes(32).toString('hex'),
  };
  const start = () =>
    spawn(process.execPath, [PROCESS], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const size = async (): Promise<number> => {
    const { rows } = await pool.query('SELECT size::int FROM seal_trees');
    return rows[0]?.size ?? 0;
  };
  const verify = () => withConnection(clientConfig(url, 'test'), verifySeal);

  /** Runs until so much is sealed. A run seals nothing while a transaction is open that other tests have on the server. */
  async function runUntil(least: number) {
    for (;;) {
      const child = start();
      const ended = once(child, 'exit');
      while ((await size()) < least && child.exitCode === null) await sleep(2);
      if ((await size()) >= least) return { child, ended };
    }
  }

  for (const least of [1, 2500, 5000, 7500]) {
    const { child, ended } = await runUntil(least);
    // Somewhere in the batch after that.
    await sleep(Math.random() * 20);
    child.kill('SIGKILL');
    await ended;
    const report = await verify();
    t.equal(report?.fault, undefined, `killed at ${report?.size}`);
    t.equal(report?.size, await size());
  }
  const [status] = await (await runUntil(EVENTS)).ended;
  t.equal(status, 0);
  t.match(await verify(), { size: EVENTS, fault: undefined });
});
