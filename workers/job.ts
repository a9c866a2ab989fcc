import type { Logger } from 'pino';
import { z } from 'zod';
import type { QueueName } from '../platform/jobs/queues.ts';
import type { Core } from '../services/compose.ts';

export interface JobDefinition {
  schema: z.ZodType;
  /** Seconds between runs: a divisor of 60, 3600, or 86400 (at night, UTC). */
  every?: number;
  /** Idempotent: runs may repeat and overlap. The result is logged, its `alert` as a warning. */
  run(core: Core, data: unknown, logger: Logger): Promise<unknown>;
}

/** The jobs of one capability, by queue; `jobs.ts` lists all of them. */
export type Jobs = Readonly<Partial<Record<QueueName, JobDefinition>>>;

/** Defines a job; `run` takes what `schema` returns. */
export const defineJob = <Schema extends z.ZodType>(
  job: Pick<JobDefinition, 'every'> & {
    schema: Schema;
    run: (core: Core, data: z.infer<Schema>, logger: Logger) => Promise<unknown>;
  },
): JobDefinition => job;

/** Defines a job that runs every so many seconds, without data. */
export const defineSweep = (every: number, run: (core: Core) => Promise<unknown>): JobDefinition =>
  defineJob({ schema: z.object({}), every, run });

/** Cron has a resolution of one minute; a shorter interval repeats the schedule with delays. */
export function listSchedules(every: number): { cron: string; key: string; startAfter: number }[] {
  if (every === 86_400) return [{ cron: '17 3 * * *', key: '0', startAfter: 0 }];
  if (every === 3600) return [{ cron: '0 * * * *', key: '0', startAfter: 0 }];
  if (60 % every !== 0) throw new Error(`no schedule for every ${every} seconds`);
  return Array.from({ length: 60 / every }, (_, index) => {
    const startAfter = index * every;
    return { cron: '* * * * *', key: String(startAfter), startAfter };
  });
}
