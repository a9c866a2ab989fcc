import * as types from '../../domain/moderation/jobs.ts';
import { runs } from '../job.ts';
import { queueAge, queueAlert } from './escalate-overdue.ts';
import { expireLeases } from './expire-review-claims.ts';
import { compareWithFolds } from './keep-folds.ts';
import { measureQueue } from './measure-queue.ts';
import { notifyRemoval, settleReports } from './notify-removal.ts';

export const moderationJobs = [
  runs(types.tellRemoval, notifyRemoval),
  runs(types.settleReports, settleReports),
  runs(types.queueAge, async (core) => ({
    waiting: await measureQueue(core),
    alert: await queueAlert(core),
    escalated: await queueAge(core),
  })),
  runs(types.expireLeases, expireLeases),
  runs(types.keepFolds, compareWithFolds),
];
