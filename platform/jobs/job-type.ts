import { z } from 'zod';
import type { Job } from '../eventstore/plan.ts';

/** How a queue treats jobs that fail, hang or were never started. */
export interface Retry {
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
export const KEPT = { retentionSeconds: 2 ** 31 - 1 };

/** For work that the next scheduled run makes up for, so few retries are enough. */
export const SWEEP: Retry = { retryLimit: 2, retryDelay: 5, retryBackoff: true };

/** For work that no scheduled run makes up for: retries for most of a day. */
export const ONCE: Retry = { retryLimit: 12, retryDelay: 10, retryBackoff: true, ...KEPT };

/** One kind of job; `workers/` has the function that runs it. */
export interface JobType<Data = unknown> {
  /** The name of its queue, which databases have: never change it. */
  queue: string;
  schema: z.ZodType<Data>;
  retry: Retry;
  /** Seconds between scheduled runs, with empty data: a divisor of 60, 3600, or 86400 (at night, UTC). */
  every?: number;
  /** The setting that says when it runs each day, HH:MM in UTC; while it is not set, no run is scheduled. */
  dailyAt?: 'verifyAt';
  /** The process that commits such a job wakes the workers, so that it starts without a delay. */
  urgent?: boolean;
}

export const defineJobType = <Data extends Record<string, unknown>>(
  type: JobType<Data>,
): JobType<Data> => type;

/** Defines a job that runs every so many seconds, without data. */
export const defineSweep = (queue: string, every: number): JobType<Record<string, never>> =>
  defineJobType({ queue, schema: z.object({}), retry: SWEEP, every });

/** A job of this type, for the `jobs` of a command. */
export const jobOf = <Data extends Record<string, unknown>>(
  { queue }: JobType<Data>,
  data: Data,
  options: Pick<Job, 'startAfter' | 'priority' | 'merges'> = {},
): Job => ({ queue, data, ...options });

/** The jobs of several commands in one transaction, where those that merge become one job per queue. */
export function mergeJobs(jobs: readonly Job[]): Job[] {
  const merged = new Map<string, Job>();
  for (const job of jobs.filter(({ merges }) => merges)) {
    const earlier = merged.get(job.queue);
    const data = { ...earlier?.data } as Record<string, unknown[]>;
    for (const [name, list] of Object.entries(job.data))
      data[name] = [...(data[name] ?? []), ...(list as unknown[])];
    const traceIds = [...(earlier?.traceIds ?? []), ...(job.traceIds ?? [])];
    merged.set(job.queue, { ...job, data, traceIds });
  }
  return [...jobs.filter(({ merges }) => !merges), ...merged.values()];
}
