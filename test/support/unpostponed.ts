import { retriedJob } from './retried-job.ts';

/**
 * Runs a job again while it is postponed: other tests may have a transaction open for seconds on the same server.
 */
export async function unpostponed<Result extends { postponed?: true }>(
  run: () => Promise<Result>,
): Promise<Omit<Result, 'postponed'>> {
  for (;;) {
    const { postponed, ...result } = await retriedJob(run);
    if (!postponed) return result;
  }
}
