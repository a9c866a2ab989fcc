import t from 'tap';
import { startCaller } from '../../platform/jobs/boss.ts';
import { dueQueues } from '../../platform/jobs/queues.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { watchDueJobs } from '../../workers/running/job.ts';
import { testDatabase } from '../support/database.ts';
import { countRowsRead } from '../support/rows-read.ts';

/** The longest interval that pg-boss takes, so that a queue is polled once in a test. */
const HOUR_SECONDS = 3600;

t.test('a job that is due starts although its queue is not polled', async (t) => {
  const { url } = await testDatabase(t);
  const boss = await startCaller(url, 'test');
  const ending = new AbortController();
  t.teardown(() => boss.stop({ graceful: false }));
  const handled: unknown[] = [];
  let wake: () => void = () => undefined;
  const reach = async (count: number) => {
    while (handled.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  // The first poll takes this job; the second is an hour away.
  await boss.send('tell-author', { note_id: 'first' });
  const worker = await boss.work(
    'tell-author',
    { pollingIntervalSeconds: HOUR_SECONDS },
    async ([job]) => {
      handled.push(job?.data);
      wake();
    },
  );
  await reach(1);
  await boss.send('tell-author', { note_id: 'later' }, { startAfter: HOUR_SECONDS });
  await boss.send('tell-author', { note_id: 'due' });
  const watching = watchDueJobs(boss, new Map([['tell-author', worker]]), ending.signal);
  await reach(2);
  t.same(handled[1], { note_id: 'due' });
  ending.abort();
  await watching;
});

t.test('a failed look for due jobs is reported, and the next one finds them', async (t) => {
  const ending = new AbortController();
  const errors: unknown[] = [];
  const answers = [new Error('no connection'), { rows: [{ queue: 'other' }, { queue: 'one' }] }];
  const woken: string[] = [];
  const boss = {
    getDb: () => ({
      async executeSql() {
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return answer;
      },
    }),
    emit: (name: string, error: unknown) => errors.push([name, error]),
    notifyWorker(id: string) {
      woken.push(id);
      ending.abort();
    },
  } as unknown as Parameters<typeof watchDueJobs>[0];
  await watchDueJobs(boss, new Map([['one', 'worker of one']]), ending.signal);
  t.match(errors, [['error', { message: 'no connection' }]]);
  t.same(woken, ['worker of one']);
});

t.test('finds due queues by one row of each, however many jobs wait', async (t) => {
  const { url, pool } = await testDatabase(t);
  await pool.query(`INSERT INTO pgboss.job (name, data, start_after, state)
    SELECT name, '{}', now() + wait, state::pgboss.job_state FROM generate_series(1, 500),
      (VALUES ('screen-note', interval '0', 'created'), ('tell-author', '1 hour', 'created'),
        ('erase-member', '0', 'retry'), ('retention', '0', 'active'), ('queue-age', '0', 'completed'))
        job (name, wait, state)`);
  const { rows } = await pool.query(dueQueues().text);
  t.same(rows.map(({ queue }) => queue).sort(), ['erase-member', 'screen-note']);
  const read = await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    return countRowsRead(client, dueQueues());
  });
  const { rowCount } = await pool.query('SELECT FROM pgboss.queue');
  // The plan says means, rounded: 500 jobs wait in each of three queues.
  t.ok(read < Number(rowCount) + 10, `${read} rows`);
});
