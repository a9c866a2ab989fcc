import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { named, type Sql } from '../../platform/sql.ts';
import type { NoteRow } from '../../projections/guestbook/notes.ts';
import { scheduledCommand } from '../../services/guestbook/scheduled-commands.ts';
import { type QueueAlert, queueAlertCommand } from '../../services/moderation/stats/queue-alert.ts';
import { isLiveLease } from '../../services/publications/review-leases.ts';
import { forEachInBatches } from '../running/batches.ts';

/** Escalates every note that has waited for more than 72 hours; returns how many. */
export function escalateOverdueNotes({ store }: { store: EventStore }): Promise<number> {
  return forEachInBatches(
    (limit) => query(store.pool, tooOld(limit)),
    (row) =>
      handle(
        store,
        SERVICE_ACTOR,
        scheduledCommand(row, (now) => ({ type: 'EscalateOldNote', now })),
      ),
  );
}

/** Returns the alert that is now due for the operator, if any; the worker logs it as a warning. */
export function queueAlert({ store }: { store: EventStore }): Promise<QueueAlert> {
  return handle(store, SERVICE_ACTOR, queueAlertCommand());
}

/** Skips deferred notes until they are due, and claimed notes, which a moderator works on. */
function tooOld(limit: number): Sql<NoteRow> {
  return named(
    `SELECT note_id, owner_id, member_id FROM notes n
      WHERE state = 'pending' AND tier = 'normal'
        AND submitted_at < statement_timestamp() - interval '72 hours'
        AND (deferred_until IS NULL OR deferred_until <= clock_timestamp())
        AND NOT EXISTS (SELECT FROM note_leases l WHERE l.note_id = n.note_id
          AND l.subject_type = 'note' AND ${isLiveLease('l')})
      ORDER BY submitted_at LIMIT $1`,
    [limit],
  );
}
