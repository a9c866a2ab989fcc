import { z } from 'zod';
import { defineJobType, defineSweep, ONCE } from '../../platform/jobs/job-type.ts';
import { RECORD_TYPES } from '../publications/words.ts';

/** Names a removal by the version of the record's stream after it. */
export const tellRemoval = defineJobType({
  queue: 'tell-removal',
  schema: z.object({
    subject: z.object({ type: z.enum(RECORD_TYPES), id: z.uuid() }),
    version: z.int(),
  }),
  retry: ONCE,
});

export const settleReports = defineSweep('settle-reports', 60);

export const queueAge = defineSweep('queue-age', 3600);

export const expireLeases = defineSweep('expire-leases', 30);

export const keepFolds = defineSweep('keep-folds', 60);
