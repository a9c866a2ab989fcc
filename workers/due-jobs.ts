import { setTimeout as sleep } from 'node:timers/promises';
import type { PgBoss } from 'pg-boss';
import { dueQueues } from '../platform/jobs/queues.ts';

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
