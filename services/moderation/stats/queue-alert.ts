import { SERVICE_OWNER } from '../../../domain/owners.ts';
import { lastFact, streamVersion } from '../../../platform/eventstore/append.ts';
import { type Accepted, type Command, defineCommand } from '../../../platform/eventstore/handle.ts';
import { queueDepth } from '../../../projections/moderation/review-stats.ts';

const STREAM = 'queue-age';

export type QueueAlert = 'overdue' | 'caught_up' | null;

/** Records one event when a note has waited for over a day, and one when no note has any more. */
export function queueAlertCommand(): Command<QueueAlert> {
  return defineCommand({
    load: { depths: queueDepth(null), events: lastFact(SERVICE_OWNER, STREAM) },
    decide({ depths: [depth], events }, now): Accepted<QueueAlert> {
      const { pending = 0, past_due = 0, oldest_seconds = 0 } = depth ?? {};
      const alerted = events.at(-1)?.type === 'QueueOverdue';
      if (alerted === past_due > 0) return { appends: [], reply: () => null };
      const submitted = new Date(now.getTime() - (oldest_seconds ?? 0) * 1000);
      const event = alerted
        ? { type: 'QueueCaughtUp' as const, data: { pending }, personal: null }
        : {
            type: 'QueueOverdue' as const,
            data: { pending, past_due, oldest_submitted_at: submitted.toISOString() },
            personal: null,
          };
      return {
        appends: [
          {
            owner: SERVICE_OWNER,
            stream: STREAM,
            version: streamVersion(events),
            events: [event],
          },
        ],
        reply: () => (alerted ? 'caught_up' : 'overdue'),
      };
    },
  });
}
