import type { Logger } from 'pino';
import type { JobType } from '../platform/jobs/job-type.ts';
import type { Core } from '../services/compose.ts';

/** A type of job with the function that runs it. */
export interface RunnableJob extends JobType {
  /**
   * Idempotent: runs may repeat and overlap. The result is logged, its `alert` as a warning. A run that takes minutes
   * ends early when `ending` is aborted, because the worker stops.
   */
  run(core: Core, data: unknown, logger: Logger, ending?: AbortSignal): Promise<unknown>;
}

/** Binds the function that runs a type of job; it takes what the schema of the type returns. */
export const runs = <Data>(
  type: JobType<Data>,
  run: (core: Core, data: Data, logger: Logger, ending?: AbortSignal) => Promise<unknown>,
): RunnableJob => ({ ...type, run: run as RunnableJob['run'] });

/** The schedule of a run each day at HH:MM in UTC. */
export function dailySchedule(at: string): { cron: string; key: string; startAfter: number } {
  const [hour, minute] = at.split(':').map(Number);
  return { cron: `${minute} ${hour} * * *`, key: '0', startAfter: 0 };
}

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
