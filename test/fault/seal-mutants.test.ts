import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { clientConfig, withConnection } from '../../platform/postgres/connection.ts';
import { verifySeal } from '../../services/seal/verify-seal.ts';
import { testDatabase } from '../support/database.ts';
import { countLockWaits } from '../support/meanwhile.ts';

const PROCESS = join(import.meta.dirname, '../support/sealing-process.ts');
const MUTANT = join(import.meta.dirname, '../../proof/mutant.ts');
const EVENTS = 1500;

/** A log that nothing has sealed yet, and a function that starts the job, with a defect of the proof if one is named. */
async function startLog(t: Test) {
  const { url, pool } = await testDatabase(t);
  await pool.query(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor,
       recorded_at)
     SELECT gen_random_uuid(), 'member-' || n, 1, gen_random_uuid(), 'Made', jsonb_build_object('n', n),
       '{"text": "Words"}', '{"type": "service"}', clock_timestamp()
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
  const start = (mutant?: string) =>
    spawn(process.execPath, ['--import', MUTANT, PROCESS], {
      env: { ...env, ...(mutant ? { PROOF_MUTANT: mutant } : {}) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const tree = async () => {
    const { rows } = await pool.query('SELECT size::int, refusal FROM seal_trees');
    return rows[0] as { size: number; refusal: string | null } | undefined;
  };
  const verify = () => withConnection(clientConfig(url, 'test'), verifySeal);
  return { pool, start, tree, verify };
}

t.test(
  'a position that is skipped is found by its number, and nothing more is signed',
  async (t) => {
    const { start, tree, verify } = await startLog(t);
    // A run is postponed while a transaction of another test is open on the server.
    while (!(await tree())) await once(start('skip-sealed'), 'exit');
    t.match(
      (await verify())?.fault,
      'position 2: the event was not sealed, although later ones were',
    );
    while ((await tree())?.refusal === null) await once(start(), 'exit');
    t.match(await tree(), { refusal: /events, but \d+ were sealed/ });
  },
);

/** Kills the job, and its connection, while it waits to write leaves, and describes what is committed then. */
async function killBeforeLeaves(t: Test, mutant?: string) {
  const { pool, start, tree, verify } = await startLog(t);
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE seal_leaves IN EXCLUSIVE MODE');
  let waits = 0;
  while (waits === 0) {
    const child = start(mutant);
    const ended = once(child, 'exit');
    while (child.exitCode === null && waits === 0) {
      waits = await countLockWaits(pool);
      await sleep(10);
    }
    child.kill('SIGKILL');
    await ended;
  }
  // It has received the statements up to COMMIT, and would go on without its client.
  await pool.query(
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
     WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  );
  await client.query('ROLLBACK');
  client.release();
  return { tree: await tree(), report: await verify() };
}

t.test('a checkpoint is signed in the transaction of its rows', async (t) => {
  t.same(await killBeforeLeaves(t), { tree: undefined, report: undefined });
});

t.test('a checkpoint that is signed before its rows are durable is found', async (t) => {
  const { tree, report } = await killBeforeLeaves(t, 'early-checkpoint');
  t.equal(tree?.size, 1000);
  t.match(report?.fault, 'position 1: the event was not sealed, although later ones were');
});
