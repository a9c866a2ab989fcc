import { z } from 'zod';
import { defineJobType, SWEEP } from '../../platform/jobs/job-type.ts';

// Every 30 seconds, so that expiries are recorded within a minute despite the scheduler's delay.
export const expireCredentials = defineJobType({
  queue: 'expire-credentials',
  schema: z.object({}),
  retry: SWEEP,
  every: 30,
});
