import * as types from '../../domain/membership/jobs.ts';
import { runs } from '../running/job.ts';
import { expireSessions, sweepSessions } from './expire-sessions.ts';

export const membershipJobs = [
  runs(types.expireSessions, expireSessions),
  runs(types.sweepSessions, sweepSessions),
];
