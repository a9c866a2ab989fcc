import { z } from 'zod';
import { defineJobType, SWEEP } from '../../platform/jobs/job-type.ts';

export const lapseCaseClaims = defineJobType({
  queue: 'lapse-case-claims',
  schema: z.object({}),
  retry: SWEEP,
  every: 30,
});
