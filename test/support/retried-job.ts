import { StorageUnavailable } from '../../platform/postgres/errors.ts';
import { asJob } from '../../platform/postgres/request-deadline.ts';

/**
 * Runs a job as a worker does: with the time of jobs, and again where the database did not answer in time. The file's
 * time limit ends a wait that is in vain.
 */
export async function retriedJob<Result>(run: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await asJob(run);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
    }
  }
}
