import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import t from 'tap';
import { MAX_COUNTED } from '../../domain/publications/words.ts';
import { freePort } from '../../harness/free-port.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { queueDepth } from '../../projections/moderation/review-stats.ts';
import { waitingMetrics } from '../../services/moderation/stats/waiting-metrics.ts';
import { jobMetrics } from '../../workers/metrics.ts';
import { startProcess } from '../support/processes.ts';
import { countRowsRead } from '../support/rows-read.ts';
import { startService } from '../support/service.ts';

t.test("exposes a worker's jobs, waiting jobs and the age of the oldest note", async (t) => {
  const service = await startService(t);
  const { pool } = service.core;
  const registry = new Registry();
  waitingMetrics(registry, pool);
  const { ended } = jobMetrics(registry);
  t.match(await registry.metrics(), /^notes_pending_oldest_seconds 0$/m);

  const body = { id: randomUUID(), message: 'Hello' };
  await service.call('POST', '/api/guestbook', { body });
  await pool.query(`UPDATE notes SET submitted_at = submitted_at - interval '1 hour'`);
  await pool.query(`INSERT INTO pgboss.job (name, data, start_after) VALUES
    ('expire-sessions', '{}', now()), ('expire-sessions', '{}', now() + interval '1 hour'),
    ('dead-letters', '{}', now())`);
  ended('expire-sessions', 'done', 0.2);
  ended('expire-sessions', 'failed', 0.2);

  const text = await registry.metrics();
  // Restore the row, since each test compares read models with their rebuild at its end.
  await pool.query(`UPDATE notes SET submitted_at = submitted_at + interval '1 hour'`);
  t.match(text, /^job_duration_seconds_count\{queue="expire-sessions",outcome="done"\} 1$/m);
  t.match(text, /^job_duration_seconds_count\{queue="expire-sessions",outcome="failed"\} 1$/m);
  t.match(text, /^jobs_waiting\{queue="expire-sessions"\} 1$/m);
  t.match(text, /^jobs_waiting\{queue="expire-credentials"\} 0$/m);
  t.match(text, /^jobs_dead 1$/m);
  t.match(text, /^notes_pending 1$/m);
  t.match(text, /^notes_pending_oldest_seconds 36\d\d(\.\d+)?$/m);
  t.match(text, /^database_up 1$/m);
});

t.test('counts a long queue once a minute, and reads few of its notes otherwise', async (t) => {
  const service = await startService(t);
  const { pool } = service.core;
  const insert = (count: number) =>
    pool.query(`INSERT INTO notes (note_id, owner_id, experience, attribution, name, message, state,
        version, tier, submitted_at)
      SELECT gen_random_uuid(), gen_random_uuid(), 'service', 'guest', 'Ada', 'Hello', 'pending', 1,
        CASE WHEN n % 2 = 0 THEN 'lead' ELSE 'normal' END, now() - n * interval '1 second'
      FROM generate_series(1, ${count}) n`);
  await insert(3600);
  const registry = new Registry();
  waitingMetrics(registry, pool);
  const text = await registry.metrics();
  t.match(text, /^notes_pending 3600$/m);
  t.match(text, /^notes_pending_oldest_seconds 36\d\d(\.\d+)?$/m);

  await withConnection(service.database.url, async (client) => {
    await client.query(BY_INDEX);
    for (const analyzed of [false, true]) {
      if (analyzed) await client.query('ANALYZE notes');
      const read = await countRowsRead(client, queueDepth(MAX_COUNTED + 1));
      t.ok(read <= MAX_COUNTED + 3, `${read} rows of 3,600`);
    }
  });
  await insert(10);
  t.match(await registry.metrics(), /^notes_pending 3600$/m, 'the count of this minute');
  await pool.query('DELETE FROM notes');
  t.match(await registry.metrics(), /^notes_pending 0$/m, 'a short queue is always counted');
});

t.test('omits figures of an unreachable database instead of reporting zero', async (t) => {
  const registry = new Registry();
  const pool = createPool('postgres://nobody@127.0.0.1:1/none', 'test', 1);
  t.teardown(() => pool.end());
  waitingMetrics(registry, pool);
  const text = await registry.metrics();
  t.match(text, /^database_up 0$/m);
  t.notMatch(text, /^(notes_pending|jobs_waiting|jobs_dead)[ {]/m);
});

for (const [name, setting] of [
  ['worker', 'WORKER_METRICS_PORT'],
  ['web', 'METRICS_PORT'],
] as const)
  t.test(`exposes waiting jobs of a ${name} process on the configured port`, async (t) => {
    const port = await freePort();
    const settings = { [setting]: port, LOG_LEVEL: 'error' };
    const { child, untilServes, end } = await startProcess(t, name, 'inherit', settings);
    await untilServes();
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    t.match(text, /^jobs_waiting\{/m);
    t.match(text, /^database_up 1$/m);
    t.match(text, /^jobs_dead 0$/m);
    child.kill('SIGTERM');
    t.same(await end(), [0, null]);
  });
