import type { PgBoss } from 'pg-boss';
import type { Job } from '../eventstore/plan.ts';
import { type Sql, sql } from '../sql.ts';

/** Where a job goes that failed for the last time. Nothing works on it: a person looks. */
export const DEAD_LETTERS = 'dead-letters';

interface Retry {
  retryLimit: number;
  /** Seconds before the first retry; with `retryBackoff` it doubles from there. */
  retryDelay: number;
  retryBackoff: boolean;
  /** Seconds until a job whose worker was killed is given to another; 15 minutes where not said. */
  expireInSeconds?: number;
  /** Seconds without a sign of life after which it is given to another sooner than that. */
  heartbeatSeconds?: number;
  /** The most seconds between two tries. */
  retryDelayMax?: number;
  /** Seconds after which one that nobody began is dropped; 14 days where not said. */
  retentionSeconds?: number;
}

/** For good: some 68 years, the most that can be said. */
const KEPT = { retentionSeconds: 2 ** 31 - 1 };

// A sweep that is missed is made good by the next one, so it is hardly retried.
const SWEEP: Retry = { retryLimit: 2, retryDelay: 5, retryBackoff: true };
// Nobody makes good what is not told: it is tried for the better part of a day.
const ONCE: Retry = { retryLimit: 12, retryDelay: 10, retryBackoff: true, ...KEPT };

// Three tries within half a minute: until then a console says that a screening is on its way.
const SCREENING: Retry = {
  retryLimit: 2,
  retryDelay: 3,
  retryBackoff: true,
  expireInSeconds: 60,
  ...KEPT,
};

// A member waits for it, so it is tried for a day; a killed worker's job is another's in 30 seconds.
const ERASURE: Retry = {
  retryLimit: 20,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 7200,
  expireInSeconds: 3600,
  heartbeatSeconds: 30,
  ...KEPT,
};

/** Every queue. Whichever process comes first makes them, so their settings stand here. */
const QUEUES = {
  'expire-sessions': SWEEP,
  'expire-credentials': SWEEP,
  'lapse-case-claims': SWEEP,
  'sweep-rate-counters': SWEEP,
  'tell-author': ONCE,
  'tell-removal': ONCE,
  'settle-reports': SWEEP,
  'close-appeals': SWEEP,
  'queue-age': SWEEP,
  retention: SWEEP,
  'expire-leases': SWEEP,
  'screen-note': SCREENING,
  'erase-member': ERASURE,
} as const satisfies Record<string, Retry>;

export type QueueName = keyof typeof QUEUES;
export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** Has the workers screen notes. */
export function screeningJob(noteIds: readonly string[]): Job {
  return { queue: 'screen-note', data: { note_ids: noteIds }, gathers: true };
}

/** The dead letter queue must be there before what names it. */
const SETTINGS: readonly (readonly [string, Partial<Retry> & { deadLetter?: string }])[] = [
  [DEAD_LETTERS, KEPT],
  ...QUEUE_NAMES.map((name) => [name, { ...QUEUES[name], deadLetter: DEAD_LETTERS }] as const),
];

/** Idempotent. */
export async function makeQueues(boss: PgBoss): Promise<void> {
  for (const [name, settings] of SETTINGS) await boss.createQueue(name, settings);
}

/** What an earlier release made is as it stands here; so are the jobs that wait, as to how long. */
export async function updateQueues(boss: PgBoss): Promise<void> {
  for (const [name, settings] of SETTINGS) await boss.updateQueue(name, settings);
  await boss.getDb().executeSql(`UPDATE pgboss.job j
    SET keep_until = j.start_after + q.retention_seconds * interval '1 second'
    FROM pgboss.queue q WHERE q.name = j.name AND j.state IN ('created', 'retry')
      AND j.keep_until < j.start_after + q.retention_seconds * interval '1 second'`);
}

export interface JobsRow {
  queue: string;
  jobs: number;
}

/** Jobs of each queue that are due and not begun; in the dead letter queue all that lie there. */
export function waitingJobs(): Sql<JobsRow> {
  return sql`SELECT name AS queue, count(*)::int AS jobs FROM pgboss.job
    WHERE state IN ('created', 'retry') AND start_after <= clock_timestamp() GROUP BY name`;
}
