import { defineJob, defineSweep, type Jobs } from '../job.ts';
import { queueAge, queueAlert } from './escalate-overdue.ts';
import { expireLeases } from './expire-review-claims.ts';
import { notifyRemoval, RemovalToTell, settleReports } from './notify-removal.ts';

export const moderationJobs = {
  'tell-removal': defineJob({ schema: RemovalToTell, run: notifyRemoval }),
  'settle-reports': defineSweep(60, settleReports),
  'queue-age': defineSweep(3600, async (core) => ({
    alert: await queueAlert(core),
    escalated: await queueAge(core),
  })),
  'expire-leases': defineSweep(30, expireLeases),
} satisfies Jobs;
