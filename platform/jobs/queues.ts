import type { PgBoss } from 'pg-boss';
import type { Job } from '../eventstore/command.ts';
import { type Sql, sql } from '../sql.ts';

/** The queue of jobs that have used up their retries. No worker reads it; an operator does. */
export const DEAD_LETTERS = 'dead-letters';

interface Retry {
  retryLimit: number;
  /** Seconds before the first retry; with `retryBackoff` it doubles from there. */
  retryDelay: number;
  retryBackoff: boolean;
  /** Seconds until a job of a killed worker goes to another worker; 15 minutes by default. */
  expireInSeconds?: number;
  /** Seconds without a heartbeat after which the job goes to another worker even earlier. */
  heartbeatSeconds?: number;
  /** Largest delay between two attempts, in seconds. */
  retryDelayMax?: number;
  /** Seconds after which a job that was never started is dropped; 14 days by default. */
  retentionSeconds?: number;
}

/** Keeps jobs permanently: about 68 years, the largest possible value. */
const KEPT = { retentionSeconds: 2 ** 31 - 1 };

// The next sweep makes up for a missed one, so few retries are enough.
const SWEEP: Retry = { retryLimit: 2, retryDelay: 5, retryBackoff: true };
// No sweep repairs a missed notification, so retry for most of a day.
const ONCE: Retry = { retryLimit: 12, retryDelay: 10, retryBackoff: true, ...KEPT };

// Three attempts within half a minute; until then a console shows that a screening is pending.
const SCREENING: Retry = {
  retryLimit: 2,
  retryDelay: 3,
  retryBackoff: true,
  expireInSeconds: 60,
  ...KEPT,
};

// A member waits for the erasure, so retry for a day; the job of a killed worker goes to another
// worker within 30 seconds.
const ERASURE: Retry = {
  retryLimit: 20,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 7200,
  expireInSeconds: 3600,
  heartbeatSeconds: 30,
  ...KEPT,
};

/** All queues with their settings, for every process: the first one to start creates the queues. */
const QUEUES = {
  'expire-sessions': SWEEP,
  'expire-credentials': SWEEP,
  'lapse-case-claims': SWEEP,
  'sweep-rate-counters': SWEEP,
  'sweep-sessions': SWEEP,
  'tell-author': ONCE,
  'tell-removal': ONCE,
  'settle-reports': SWEEP,
  'close-appeals': SWEEP,
  'queue-age': SWEEP,
  retention: SWEEP,
  'expire-leases': SWEEP,
  'split-words': SWEEP,
  'screen-note': SCREENING,
  'erase-member': ERASURE,
} as const satisfies Record<string, Retry>;

export type QueueName = keyof typeof QUEUES;
export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** A job that has the workers screen these notes, before those that are screened again. */
export function screeningJob(noteIds: readonly string[]): Job {
  return { queue: 'screen-note', data: { note_ids: noteIds }, priority: 1, gathers: true };
}

/** A job that has the workers screen these notes again when they have nothing else to screen. */
export function rescreeningJob(noteIds: readonly string[]): Job {
  return { queue: 'screen-note', data: { note_ids: noteIds } };
}

/** The wake-up topic of a queue's workers. */
export const jobsTopic = (queue: string): string => `jobs ${queue}`;

/** In order of creation: the dead letter queue must exist before the queues that refer to it. */
const SETTINGS: readonly (readonly [string, Partial<Retry> & { deadLetter?: string }])[] = [
  [DEAD_LETTERS, KEPT],
  ...QUEUE_NAMES.map((name) => [name, { ...QUEUES[name], deadLetter: DEAD_LETTERS }] as const),
];

/** Creates the queues. Idempotent. */
export async function makeQueues(boss: PgBoss): Promise<void> {
  for (const [name, settings] of SETTINGS) await boss.createQueue(name, settings);
}

/** Applies the settings to existing queues, and extends the retention of their waiting jobs. */
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

/** Counts the due jobs that have not started, by queue; in the dead letter queue, all jobs. */
export function waitingJobs(): Sql<JobsRow> {
  return sql`SELECT name AS queue, count(*)::int AS jobs FROM pgboss.job
    WHERE state IN ('created', 'retry') AND start_after <= clock_timestamp() GROUP BY name`;
}
