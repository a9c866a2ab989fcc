import { z } from 'zod';
import { defineJobType, SWEEP } from '../../platform/jobs/job-type.ts';

/** Compares every read model with the log, each day at `VERIFY_AT`. A log of many millions takes an hour. */
export const proveReadModels = defineJobType({
  queue: 'prove-read-models',
  schema: z.object({}),
  retry: { ...SWEEP, expireInSeconds: 6 * 3600 },
  dailyAt: 'verifyAt',
});
