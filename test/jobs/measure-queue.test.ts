import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { moderationJobs } from '../../workers/moderation/jobs.ts';
import { measureQueue } from '../../workers/moderation/measure-queue.ts';
import { startService } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number): string =>
  new Date((Math.floor(Date.now() / HOUR_MS) - hours) * HOUR_MS).toISOString();

t.test('counts once an hour how many notes wait, and for how long', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const counted = async () => (await auditor.get('stats')).body.waiting_by_hour;
  t.same(await counted(), [], 'a new service has no count');
  const { pool } = service.database;
  const anHourAgo = () => pool.query("UPDATE queue_hours SET hour = hour - interval '1 hour'");

  t.equal(await measureQueue(service.core), 0);
  await anHourAgo();
  const { id } = await submit(service);
  const second = await submit(service);
  await ann.post(`notes/${second.id}/decisions`, { action: 'defer', expected_version: 1 });
  t.equal(await measureQueue(service.core), 2, 'a deferred note waits as well');
  await decide(ann, id, 'approve');
  t.equal(await measureQueue(service.core), null, 'the hour has its count');
  const rows = await counted();
  t.same(
    rows.map(({ waiting }: { waiting: number }) => waiting),
    [0, 2],
  );
  t.equal(rows[0].oldest_age_seconds, null);
  t.ok(rows[1].oldest_age_seconds >= 0);
  t.equal(Date.parse(rows[1].hour) - Date.parse(rows[0].hour), HOUR_MS);

  await anHourAgo();
  const job = moderationJobs.find(({ queue }) => queue === 'queue-age');
  t.match(await job?.run(service.core, {}, service.logger), { waiting: 1 }, 'the hourly job');
});

t.test('gives the counts of a time, leaves out hours without one, and keeps 14 days', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { pool } = service.database;
  for (const [hours, waiting] of [
    [2, 5],
    [5, 3],
    [14 * 24 - 1, 8],
    [14 * 24 + 1, 9],
  ] as const)
    await pool.query('INSERT INTO queue_hours VALUES ($1, $2, 60)', [hoursAgo(hours), waiting]);
  const waitingOf = async (days: number) => {
    const from = new Date(Date.now() - days * 24 * HOUR_MS).toISOString();
    const { body } = await ann.get(`stats?from=${encodeURIComponent(from)}`);
    return body.waiting_by_hour.map(({ waiting }: { waiting: number }) => waiting);
  };
  t.same(await waitingOf(7), [3, 5], 'the oldest first, and no row for a gap');
  t.same(await waitingOf(30), [9, 8, 3, 5]);
  await measureQueue(service.core);
  t.same(await waitingOf(30), [8, 3, 5, 0], 'older counts are dropped');
});
