import { defineSweep, type Jobs } from '../job.ts';
import { expireCredentials } from './expire-credentials.ts';

export const credentialsJobs = {
  // Every 30 seconds, so that expiries are recorded within a minute despite the scheduler's delay.
  'expire-credentials': defineSweep(30, expireCredentials),
} satisfies Jobs;
