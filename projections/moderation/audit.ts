import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { named, type Sql } from '../../platform/sql.ts';

/** An event of the log without its personal part, which alone can hold the text of a note. */
export interface AuditRow
  extends Pick<
    RecordedEvent,
    'position' | 'event_id' | 'stream_id' | 'stream_version' | 'type' | 'actor' | 'recorded_at'
  > {
  data: Record<string, unknown>;
  actor_name: string | null;
}

/** The condition must equal that of the index events_audit, word for word. */
const AUDITED = `SELECT e.position, e.event_id, e.stream_id, e.stream_version, e.type, e.data, e.actor,
    e.recorded_at, m.name AS actor_name
  FROM events e LEFT JOIN moderators m ON m.moderator_id = (e.actor->>'id')::uuid
  WHERE (actor->>'type' = 'moderator'
      OR type IN ('ModeratorAdded', 'ModeratorRevoked', 'ModeratorTokenRotated', 'NoteApproved',
        'NoteRejected', 'NoteRemoved', 'NoteRestored', 'NoteEscalated', 'NoteErased'))`;

/**
 * Reads what moderators did, what was done to them, and decisions on notes, after a log position.
 */
export function auditAfter(position: number, limit: number): Sql<AuditRow> {
  return named(`${AUDITED} AND position > $1 ORDER BY position LIMIT $2`, [position, limit]);
}

/** Reads audited events before a log position, newest first; null starts at the newest event. */
export function auditBefore(position: number | null, limit: number): Sql<AuditRow> {
  return named(
    `${AUDITED} AND position < coalesce($1::bigint, 9223372036854775807)
    ORDER BY position DESC LIMIT $2`,
    [position, limit],
  );
}
