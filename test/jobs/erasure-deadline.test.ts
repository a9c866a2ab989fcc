import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { startService } from '../support/service.ts';
import { startWorker } from '../support/worker.ts';

/** Longer than a request may wait for a statement, in seconds. */
const WAIT = 3.5;

t.test(
  'waits in an erasure for longer than a request may, and completes it in one run',
  async (t) => {
    const keys = `1:${randomBytes(32).toString('hex')}`;
    const service = await startService(t, { SERVER_KEYS: keys });
    const { pool, url } = service.database;
    const { id, handle, call } = await newAgent(service);
    t.equal((await call('POST', '/api/v1/me/delete', { confirm_handle: handle })).status, 200);
    const retries = async (): Promise<number> =>
      (await pool.query(`SELECT retry_count FROM pgboss.job WHERE name = 'erase-member'`)).rows[0]
        .retry_count;
    const waits = async (): Promise<number> =>
      (
        await pool.query(
          `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0)::float AS waits
         FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      ).rows[0].waits;

    await withConnection(url, async (other) => {
      await other.query('BEGIN');
      await other.query('SELECT FROM feed_heads WHERE member_id = $1 FOR UPDATE', [id]);
      await startWorker(t, { DATABASE_URL: url, SERVER_KEYS: keys, WORKER_METRICS_PORT: '0' });
      while ((await waits()) < WAIT && (await retries()) === 0) await sleep(50);
      await other.query('ROLLBACK');
    });
    const erased = async () =>
      (await pool.query('SELECT FROM members WHERE member_id = $1 AND erased_at IS NOT NULL', [id]))
        .rowCount === 1;
    while (!(await erased())) await sleep(50);
    t.equal(await retries(), 0);
  },
);
