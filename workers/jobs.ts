import type { Logger } from 'pino';
import { z } from 'zod';
import type { QueueName } from '../platform/jobs/queues.ts';
import type { Core } from '../services/compose.ts';
import { eraseMembers } from './account/erase-member.ts';
import { lapseCaseClaims } from './cases/expire-case-claims.ts';
import { expireCredentials } from './credentials/expire-credentials.ts';
import { closeAppeals } from './guestbook/close-appeals.ts';
import { retention } from './guestbook/erase-old-notes.ts';
import { NoteToNotify, notifyAuthor } from './guestbook/notify-author.ts';
import { sweepRateCounters } from './limits/sweep-rate-counters.ts';
import { expireSessions } from './membership/expire-sessions.ts';
import { queueAge, queueAlert } from './moderation/escalate-overdue.ts';
import { expireLeases } from './moderation/expire-review-claims.ts';
import { notifyRemoval, RemovalToTell, settleReports } from './moderation/notify-removal.ts';
import { screenNotes, ToScreen } from './screening/screen-note.ts';

export interface JobDefinition<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  /** Seconds between runs: a divisor of 60, 3600, or 86400 (at night, UTC). */
  every?: number;
  /** Idempotent: runs may repeat and overlap. The result is logged, its `alert` as a warning. */
  run(core: Core, data: z.infer<Schema>, logger: Logger): Promise<unknown>;
}

const Nothing = z.strictObject({});

/** Every job; platform/jobs/queues.ts defines the retries of each queue. */
export const JOBS: Readonly<Record<QueueName, JobDefinition>> = {
  // Every 30 seconds, so that expiries are recorded within a minute despite the scheduler's delay.
  'expire-sessions': { schema: Nothing, every: 30, run: expireSessions },
  'expire-credentials': { schema: Nothing, every: 30, run: expireCredentials },
  'lapse-case-claims': { schema: Nothing, every: 30, run: lapseCaseClaims },
  'sweep-rate-counters': { schema: Nothing, every: 3600, run: sweepRateCounters },
  'tell-author': {
    schema: NoteToNotify,
    run: (core, data) => notifyAuthor(core, data as z.infer<typeof NoteToNotify>),
  },
  'tell-removal': {
    schema: RemovalToTell,
    run: (core, data) => notifyRemoval(core, data as z.infer<typeof RemovalToTell>),
  },
  'settle-reports': { schema: Nothing, every: 60, run: settleReports },
  'close-appeals': { schema: Nothing, every: 3600, run: closeAppeals },
  'queue-age': {
    schema: Nothing,
    every: 3600,
    run: async (core) => ({ alert: await queueAlert(core), escalated: await queueAge(core) }),
  },
  retention: { schema: Nothing, every: 86_400, run: retention },
  'expire-leases': { schema: Nothing, every: 30, run: expireLeases },
  'screen-note': {
    schema: ToScreen,
    run: (core, data, logger) => screenNotes(core, data as z.infer<typeof ToScreen>, logger),
  },
  // A deletion enqueues a job for its member; the scheduled job finds what a lost job left.
  'erase-member': {
    schema: z.strictObject({ member_id: z.uuid().optional() }),
    every: 3600,
    run: eraseMembers,
  },
};

/** Cron has a resolution of one minute; a shorter interval repeats the schedule with delays. */
export function listSchedules(every: number): { cron: string; key: string; startAfter: number }[] {
  if (every === 86_400) return [{ cron: '17 3 * * *', key: '0', startAfter: 0 }];
  if (every === 3600) return [{ cron: '0 * * * *', key: '0', startAfter: 0 }];
  if (60 % every !== 0) throw new Error(`no schedule for every ${every} seconds`);
  return Array.from({ length: 60 / every }, (_, index) => {
    const startAfter = index * every;
    return { cron: '* * * * *', key: String(startAfter), startAfter };
  });
}
