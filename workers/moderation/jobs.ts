import * as types from '../../domain/moderation/jobs.ts';
import { runs } from '../running/job.ts';
import { escalateOverdueNotes, queueAlert } from './escalate-overdue-notes.ts';
import { expireReviewLeases } from './expire-review-leases.ts';
import { keepFolds } from './keep-folds.ts';
import { measureQueue } from './measure-queue.ts';
import { notifyRemoval, settleReports } from './notify-removal.ts';

export const moderationJobs = [
  runs(types.tellRemoval, notifyRemoval),
  runs(types.settleReports, settleReports),
  runs(types.queueAge, async (core) => ({
    waiting: await measureQueue(core),
    alert: await queueAlert(core),
    escalated: await escalateOverdueNotes(core),
  })),
  runs(types.expireLeases, expireReviewLeases),
  runs(types.keepFolds, keepFolds),
];
