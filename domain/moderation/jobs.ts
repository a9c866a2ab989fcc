import { z } from 'zod';
import { defineJobType, ONCE, SWEEP } from '../../platform/jobs/job-type.ts';
import { RECORD_TYPES } from '../publications/record-type.ts';

/** Names a removal by the version of the record's stream after it. */
export const tellRemoval = defineJobType({
  queue: 'tell-removal',
  schema: z.object({
    subject: z.object({ type: z.enum(RECORD_TYPES), id: z.uuid() }),
    version: z.int(),
  }),
  retry: ONCE,
});

export const settleReports = defineJobType({
  queue: 'settle-reports',
  schema: z.object({}),
  retry: SWEEP,
  every: 60,
});

export const queueAge = defineJobType({
  queue: 'queue-age',
  schema: z.object({}),
  retry: SWEEP,
  every: 3600,
});

export const expireLeases = defineJobType({
  queue: 'expire-leases',
  schema: z.object({}),
  retry: SWEEP,
  every: 30,
});
