import { defineSweep, type Jobs } from '../job.ts';
import { expireSessions, sweepSessions } from './expire-sessions.ts';

export const membershipJobs = {
  // Every 30 seconds, so that expiries are recorded within a minute despite the scheduler's delay.
  'expire-sessions': defineSweep(30, expireSessions),
  'sweep-sessions': defineSweep(3600, sweepSessions),
} satisfies Jobs;
