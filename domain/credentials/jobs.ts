import { defineSweep } from '../../platform/jobs/job-type.ts';

// Every 30 seconds, so that expiries are recorded within a minute despite the scheduler's delay.
export const expireCredentials = defineSweep('expire-credentials', 30);
