import t, { type Test } from 'tap';
import { readConfig } from '../../platform/config.ts';
import { definePlan } from '../../platform/eventstore/plan.ts';
import { sql } from '../../platform/sql.ts';
import { createCore } from '../../services/compose.ts';
import { testDatabase } from '../support/database.ts';
import { whileWaitingForLock } from '../support/meanwhile.ts';

/** A process that serves no requests, so that its first job starts the job queue. */
async function createCommand(t: Test) {
  const { url, pool } = await testDatabase(t);
  await pool.query('CREATE TABLE words (word text)');
  const env = {
    DATABASE_URL: url,
    SERVER_KEYS: `1:${'ab'.repeat(32)}`,
    BASE_URL: 'http://localhost',
  };
  const core = await createCore(readConfig(env), 'service test');
  t.teardown(core.close);
  /** Writes a row and sends a job. */
  const execute = () =>
    core.store.execute(
      definePlan({
        load: sql`SELECT FROM words FOR UPDATE`,
        decide: () => ({
          appends: [],
          rows: [sql`INSERT INTO words VALUES ('written')`],
          jobs: [{ queue: 'tell-author', data: { note_id: 'one' } }],
          answer: () => 'accepted',
        }),
      }),
    );
  const written = async () =>
    (
      await pool.query(`SELECT (SELECT count(*) FROM words)::int AS words,
        (SELECT count(*) FROM pgboss.job WHERE name = 'tell-author')::int AS jobs`)
    ).rows[0];
  return { pool, execute, written };
}

t.test('a first job creates the queues, and its command is executed once', async (t) => {
  const { pool, execute, written } = await createCommand(t);
  await pool.query('DELETE FROM pgboss.queue');
  t.equal(await execute(), 'accepted');
  t.same(await written(), { words: 1, jobs: 1 });
});

t.test('a command holds no locks while its first job waits for the queues', async (t) => {
  const { pool, execute, written } = await createCommand(t);
  const answer = await whileWaitingForLock(
    pool,
    'LOCK TABLE pgboss.queue IN ACCESS EXCLUSIVE MODE',
    execute,
    async () => {
      const { rows } = await pool.query(`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND application_name = 'service test'`);
      t.equal(rows.length, 0);
    },
  );
  t.equal(answer, 'accepted');
  t.same(await written(), { words: 1, jobs: 1 });
});

t.test('a command without a job queue writes nothing, and says why', async (t) => {
  const { pool, execute } = await createCommand(t);
  await pool.query('ALTER SCHEMA pgboss RENAME TO missing');
  const cause = { message: 'pg-boss is not installed' };
  await t.rejects(execute, { message: 'the job queue does not start', cause });
  await pool.query('ALTER SCHEMA missing RENAME TO pgboss');
  t.equal(await execute(), 'accepted');
  t.equal((await pool.query('SELECT FROM words')).rowCount, 1);
});
