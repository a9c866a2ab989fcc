import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PgBoss } from 'pg-boss';
import t from 'tap';
import { submit } from '../../harness/moderation.ts';
import { matchAll } from '../support/match-all.ts';
import { operatorEnv } from '../support/moderator-command.ts';
import { startService } from '../support/service.ts';
import { startWorker } from '../support/worker.ts';

const run = promisify(execFile);
const KEPT_QUEUES = ['dead-letters', 'erase-member', 'screen-note', 'tell-author', 'tell-removal'];

t.test('keeps jobs of the important queues for good, also those of older releases', async (t) => {
  const service = await startService(t);
  const { pool } = service.core;
  const queues = async () =>
    (
      await pool.query(`SELECT name FROM pgboss.queue
        WHERE retention_seconds > 50 * 365 * 86400 ORDER BY name`)
    ).rows.map(({ name }) => name);
  t.strictSame(await queues(), KEPT_QUEUES, 'new queues have the retention');

  await pool.query('UPDATE pgboss.queue SET retention_seconds = 14 * 86400');
  await pool.query(`INSERT INTO pgboss.job (name, data, start_after, keep_until)
    SELECT name, '{}', now() + interval '1 hour', now() + interval '14 days'
    FROM unnest(ARRAY['dead-letters', 'tell-author', 'retention']) name`);
  await startWorker(t, operatorEnv(service));
  const kept = () =>
    pool.query(`SELECT name FROM pgboss.job WHERE data = '{}'
      AND start_after > now() + interval '50 minutes' AND keep_until > now() + interval '50 years'
      ORDER BY name`);
  while ((await kept()).rowCount === 0) await sleep(50);
  t.strictSame(
    (await kept()).rows.map(({ name }) => name),
    ['dead-letters', 'tell-author'],
  );
  t.strictSame(await queues(), KEPT_QUEUES);
});

t.test('lists dead letters and returns them to their queues', async (t) => {
  const service = await startService(t);
  const { pool } = service.core;
  const boss = new PgBoss({
    connectionString: service.database.url,
    schema: 'pgboss',
    max: 1,
    supervise: false,
    schedule: false,
  });
  boss.on('error', () => undefined);
  await boss.start();
  t.teardown(() => boss.stop({ graceful: false }));
  const ids = [randomUUID(), randomUUID()];
  for (const note_id of ids) {
    await boss.send('tell-author', { note_id }, { retryLimit: 0 });
    const [job] = await boss.fetch('tell-author');
    await boss.fail('tell-author', job?.id as string, { error: 'NoRoom' });
  }

  const command = async (...args: string[]) => {
    const env = { ...process.env, NODE_OPTIONS: '', ...operatorEnv(service) };
    const script = ['cli/dead-letters.ts', ...args];
    const { stdout } = await run(process.execPath, script, { env });
    return stdout;
  };
  const listed = async () => (await command('list')).split('\n').filter(Boolean);
  const jobs = async () =>
    (
      await pool.query(`SELECT data->>'note_id' AS id, retry_limit FROM pgboss.job
        WHERE name = 'tell-author' AND state = 'created' ORDER BY created_on`)
    ).rows;

  const [first = '', second, ...more] = await listed();
  t.strictSame(more, []);
  matchAll(t, first.split('\t').slice(1), ['tell-author', /^\d{4}-.*Z$/, 'NoRoom', ids[0]]);
  t.match(second, ids[1]);
  const refused = await command('again', 'nosuch').catch((error) => error);
  t.match(refused, {
    code: 2,
    stderr: /^again takes ids that list prints, and 'nosuch' is not one\.\nUsage:/,
  });
  t.match(await command('again', first.split('\t')[0] as string), /^Gave 1 back/);
  t.strictSame(await jobs(), [{ id: ids[0], retry_limit: 12 }]);
  t.strictSame(await listed(), [second]);
  t.match(await command('again'), /^Gave 1 back/);
  t.equal((await jobs()).length, 2);
  t.strictSame(await listed(), []);
  await t.rejects(command('all'), { code: 2, stderr: /^Unknown command 'all'\.\nUsage/ });
});

t.test('runs waiting and dead jobs that carry traces beside their data', async (t) => {
  const service = await startService(t);
  const { pool } = service.core;
  const waiting = await submit(service);
  const dead = await submit(service);
  // As release 0.9.0 stored and failed them for requests with X-Request-Id.
  await pool.query(`UPDATE pgboss.job SET data = data || '{"trace_ids": ["a-request-id"]}'`);
  await pool.query(
    `WITH failed AS (DELETE FROM pgboss.job WHERE data->'note_ids' ? $1 RETURNING *)
     INSERT INTO pgboss.job (name, data, source_name, source_id, source_created_on)
     SELECT 'dead-letters', data, name, id, created_on FROM failed`,
    [dead.id],
  );
  const screened = async () =>
    (
      await pool.query(`SELECT data->>'note_id' AS id FROM events WHERE type = 'NoteScreened'`)
    ).rows.map(({ id }) => id);

  await startWorker(t, operatorEnv(service));
  while ((await screened()).length === 0) await sleep(50);
  t.same(await screened(), [waiting.id]);
  const env = { ...process.env, NODE_OPTIONS: '', ...operatorEnv(service) };
  await run(process.execPath, ['cli/dead-letters.ts', 'again'], { env });
  while ((await screened()).length === 1) await sleep(50);
  t.same(await screened(), [waiting.id, dead.id]);
});

t.test('says why the database refused a job', async (t) => {
  const service = await startService(t);
  const { pool } = service.core;
  const note = await submit(service);
  await pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE insufficient_privilege USING MESSAGE = 'permission denied for table notes'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON note_screenings FOR EACH ROW EXECUTE FUNCTION refuse()`);
  await pool.query(`UPDATE pgboss.job SET retry_limit = 0 WHERE data->'note_ids' ? $1`, [note.id]);
  await startWorker(t, { ...operatorEnv(service), LOG_LEVEL: 'silent' });
  const said = async () =>
    (
      await pool.query(
        `SELECT coalesce(source_output, output)->>'error' AS error FROM pgboss.job
        WHERE data->'note_ids' ? $1 AND coalesce(source_output, output) IS NOT NULL`,
        [note.id],
      )
    ).rows;
  while ((await said()).length === 0) await sleep(50);
  t.match((await said())[0], { error: '42501 permission denied for table notes' });
});
