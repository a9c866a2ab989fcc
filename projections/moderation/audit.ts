import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { named, type Sql } from '../../platform/sql.ts';

/** An event of the log without its personal part, which alone can hold the text of a note. */
export interface AuditRow
  extends Pick<
    RecordedEvent,
    'position' | 'event_id' | 'stream_id' | 'stream_version' | 'type' | 'actor' | 'recorded_at'
  > {
  data: Record<string, unknown>;
}

/**
 * What moderators did, what was done to them, and decisions on notes, in a range of positions. The
 * condition must equal that of the index events_audit, word for word.
 */
const AUDITED = `SELECT position, event_id, stream_id, stream_version, type, data, actor, recorded_at
  FROM events
  WHERE (actor->>'type' = 'moderator'
      OR type IN ('ModeratorAdded', 'ModeratorRevoked', 'ModeratorTokenRotated', 'NoteApproved',
        'NoteRejected', 'NoteRemoved', 'NoteRestored', 'NoteEscalated', 'NoteErased'))
    AND position > $1 AND position <= $2`;

/** Reads audited events after a position, up to and including another, oldest first. */
export function auditOldest(after: number, to: number, limit: number): Sql<AuditRow> {
  return named(`${AUDITED} ORDER BY position LIMIT $3`, [after, to, limit]);
}

/** Reads audited events after a position, up to and including another, newest first. */
export function auditNewest(after: number, to: number, limit: number): Sql<AuditRow> {
  return named(`${AUDITED} ORDER BY position DESC LIMIT $3`, [after, to, limit]);
}
