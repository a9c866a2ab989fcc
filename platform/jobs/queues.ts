import type { PgBoss } from 'pg-boss';
import { type Sql, sql } from '../sql.ts';
import { type JobType, KEPT } from './job-type.ts';

/** The queue of jobs that have used up their retries. No worker reads it; an operator does. */
export const DEAD_LETTERS = 'dead-letters';

/** The wake-up topic of a queue's workers. */
export const jobsTopic = (queue: string): string => `jobs ${queue}`;

/** In order of creation: the dead letter queue must exist before the queues that refer to it. */
const settingsOf = (types: readonly JobType[]) => [
  { name: DEAD_LETTERS, ...KEPT },
  ...types.map(({ queue, retry }) => ({ name: queue, ...retry, deadLetter: DEAD_LETTERS })),
];

/** Creates the queues of these jobs that are missing. */
export async function makeQueues(boss: PgBoss, types: readonly JobType[]): Promise<void> {
  const existing = new Set((await boss.getQueues()).map(({ name }) => name));
  for (const { name, ...settings } of settingsOf(types))
    if (!existing.has(name)) await boss.createQueue(name, settings);
}

/** Applies the settings to existing queues, and extends the retention of their waiting jobs. */
export async function updateQueues(boss: PgBoss, types: readonly JobType[]): Promise<void> {
  await Promise.all(
    settingsOf(types).map(({ name, ...settings }) => boss.updateQueue(name, settings)),
  );
  await boss.getDb().executeSql(`UPDATE pgboss.job j
    SET keep_until = j.start_after + q.retention_seconds * interval '1 second'
    FROM pgboss.queue q WHERE q.name = j.name AND j.state IN ('created', 'retry')
      AND j.keep_until < j.start_after + q.retention_seconds * interval '1 second'`);
}

export interface JobsRow {
  queue: string;
  jobs: number;
}

/** Counts the due jobs that have not started, by queue; in the dead letter queue, all jobs. */
export function waitingJobs(): Sql<JobsRow> {
  return sql`SELECT q.name AS queue, coalesce(due.jobs, 0) AS jobs FROM pgboss.queue q
    LEFT JOIN (SELECT name, count(*)::int AS jobs FROM pgboss.job
      WHERE state IN ('created', 'retry') AND start_after <= clock_timestamp()
      GROUP BY name) due USING (name)`;
}

/** The queues with jobs that are due and have not started; reads one job of each, however many wait. */
export const dueQueues = (): Sql<{ queue: string }> =>
  sql`SELECT q.name AS queue FROM pgboss.queue q, LATERAL (SELECT FROM pgboss.job j
    WHERE j.name = q.name AND j.state IN ('created', 'retry') AND NOT j.blocked AND j.start_after <= now()
    LIMIT 1) due`;
