import { z } from 'zod';
import { defineJobType, KEPT } from '../../platform/jobs/job-type.ts';

/** A deletion enqueues a job for its member; the scheduled run finds what a lost job left. */
export const eraseMember = defineJobType({
  queue: 'erase-member',
  schema: z.object({ member_id: z.uuid().optional() }),
  // A member waits for the erasure, so retry for a day; the job of a killed worker goes to another
  // worker within 30 seconds.
  retry: {
    retryLimit: 20,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 7200,
    expireInSeconds: 3600,
    heartbeatSeconds: 30,
    ...KEPT,
  },
  every: 3600,
  urgent: true,
});
