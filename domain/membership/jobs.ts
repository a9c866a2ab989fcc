import { z } from 'zod';
import { defineJobType, SWEEP } from '../../platform/jobs/job-type.ts';

// Every 30 seconds, so that expiries are recorded within a minute despite the scheduler's delay.
export const expireSessions = defineJobType({
  queue: 'expire-sessions',
  schema: z.object({}),
  retry: SWEEP,
  every: 30,
});

export const sweepSessions = defineJobType({
  queue: 'sweep-sessions',
  schema: z.object({}),
  retry: SWEEP,
  every: 3600,
});
