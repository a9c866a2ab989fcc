import { setTimeout as sleep } from 'node:timers/promises';
import type { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { JobType } from '../../platform/jobs/job-type.ts';
import { dueQueues } from '../../platform/jobs/queues.ts';
import type { Core } from '../../services/compose.ts';

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

/** How long a job that is due waits at most until a worker looks for it. */
const LOOK_MS = 2000;

/**
 * Looks for jobs that are due in every queue by one statement, and wakes the pg-boss worker of each such queue, until
 * `ending` is aborted. `workers` has the id of each queue's worker. An error is emitted as one of pg-boss.
 */
export async function watchDueJobs(
  boss: PgBoss,
  workers: ReadonlyMap<string, string>,
  ending: AbortSignal,
): Promise<void> {
  const { text } = dueQueues();
  while (!ending.aborted) {
    try {
      const { rows } = await boss.getDb().executeSql(text);
      for (const { queue } of rows as { queue: string }[]) {
        const worker = workers.get(queue);
        if (worker) boss.notifyWorker(worker);
      }
    } catch (error) {
      if (!ending.aborted) boss.emit('error', error as Error);
    }
    await sleep(LOOK_MS, undefined, { signal: ending }).catch(() => undefined);
  }
}
