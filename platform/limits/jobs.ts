import { z } from 'zod';
import { defineJobType, SWEEP } from '../jobs/job-type.ts';

export const sweepRateCounters = defineJobType({
  queue: 'sweep-rate-counters',
  schema: z.object({}),
  retry: SWEEP,
  every: 3600,
});
