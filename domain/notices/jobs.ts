import { defineSweep } from '../../platform/jobs/job-type.ts';

/** Calls the operator's receivers. A queue apart, so that a receiver that hangs delays no other job. */
export const sendNotices = defineSweep('send-notices', 10);
