import { z } from 'zod';
import { defineJobType, SWEEP } from '../../platform/jobs/job-type.ts';

export const splitWords = defineJobType({
  queue: 'split-words',
  schema: z.object({}),
  retry: SWEEP,
  every: 60,
});
