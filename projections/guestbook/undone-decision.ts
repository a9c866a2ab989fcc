import type * as events from '../../domain/guestbook/events.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { EventOf } from '../projection.ts';

type Undone = EventOf<typeof events, 'DecisionUndone'>;

/** Restores the row of a note to the state before the decision that was undone. */
export function undone({ stream_version, data, recorded_at }: Undone): Sql {
  const { decision, review, appeal, refused, reported_at } = data;
  if (decision === 'kept')
    return sql`UPDATE notes SET reported_at = ${reported_at}, version = ${stream_version}
      WHERE note_id = ${data.note_id}`;
  if (decision === 'upheld')
    return sql`UPDATE notes SET appeal = 'open', appealed_at = ${appeal?.opened_at},
      version = ${stream_version} WHERE note_id = ${data.note_id}`;
  if (decision === 'granted')
    return sql`UPDATE notes SET state = ${refused?.state}, settled_at = ${refused?.at},
        settled_by = ${refused?.moderator_id}, gone_at = ${recorded_at},
        approved_at = CASE WHEN approved_at = settled_at THEN NULL ELSE approved_at END,
        appeal = 'open', appealed_at = ${appeal?.opened_at}, reported_at = ${reported_at},
        version = ${stream_version}
      WHERE note_id = ${data.note_id}`;
  if (decision === 'deferred' || decision === 'escalated')
    return sql`UPDATE notes SET tier = ${review?.tier}, deferred_until = ${review?.deferred_until},
        version = ${stream_version} WHERE note_id = ${data.note_id}`;
  return decision === 'removed'
    ? sql`UPDATE notes SET state = 'approved', settled_at = ${recorded_at}, settled_by = NULL,
        gone_at = NULL, appeal = NULL, appealed_at = NULL, version = ${stream_version}
        WHERE note_id = ${data.note_id}`
    : sql`UPDATE notes SET state = 'pending', approved_at = NULL, settled_at = NULL,
        gone_at = CASE state WHEN 'approved' THEN ${recorded_at} ELSE gone_at END,
        settled_by = NULL, appeal = NULL, appealed_at = NULL, version = ${stream_version}
        WHERE note_id = ${data.note_id}`;
}
