import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { named, type Sql } from '../../platform/sql.ts';

/** An event of the log without its personal part: no text of a note is ever in it. */
export interface AuditRow
  extends Pick<
    RecordedEvent,
    'position' | 'event_id' | 'stream_id' | 'stream_version' | 'type' | 'actor' | 'recorded_at'
  > {
  data: Record<string, unknown>;
  actor_name: string | null;
}

/** The condition is that of the index events_audit, word for word. */
const AUDITED = `SELECT e.position, e.event_id, e.stream_id, e.stream_version, e.type, e.data, e.actor,
    e.recorded_at, m.name AS actor_name
  FROM events e LEFT JOIN moderators m ON m.moderator_id = (e.actor->>'id')::uuid
  WHERE (actor->>'type' = 'moderator'
      OR type IN ('ModeratorAdded', 'ModeratorRevoked', 'ModeratorTokenRotated', 'NoteApproved',
        'NoteRejected', 'NoteRemoved', 'NoteRestored', 'NoteEscalated', 'NoteErased'))`;

/** What moderators did and what was done to them and decided on notes, after a position of the log. */
export function auditAfter(position: number, limit: number): Sql<AuditRow> {
  return named(`${AUDITED} AND position > $1 ORDER BY position LIMIT $2`, [position, limit]);
}

/** The same, newest first, before a position; from the newest where there is none. */
export function auditBefore(position: number | null, limit: number): Sql<AuditRow> {
  return named(
    `${AUDITED} AND position < coalesce($1::bigint, 9223372036854775807)
    ORDER BY position DESC LIMIT $2`,
    [position, limit],
  );
}
