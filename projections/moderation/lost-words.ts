import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { named, type Sql } from '../../platform/sql.ts';
import { IS_AUDITED } from './audit.ts';

/** An event whose words are gone, although no erasure should have reached it. */
export type LostWords = Pick<
  RecordedEvent,
  'position' | 'type' | 'stream_id' | 'stream_version' | 'recorded_at'
>;

/**
 * Reads the events of the service, of moderators and of guests' notes whose words are gone without an
 * erasure, oldest first. Until release 0.9.0, the deletion of a member who had chosen one of their ids
 * erased them. The words of a guest's note end with `NoteErased`, those of a comment with
 * `CommentDeleted`; policies and names of moderators are never erased.
 */
export function lostWords(): Sql<LostWords> {
  const ofNote = (type: string, more = '') => `EXISTS (SELECT FROM events n
    WHERE n.owner_id = e.owner_id AND n.stream_id = 'note-' || e.owner_id AND ${type} ${more})`;
  return named(`SELECT position, type, stream_id, stream_version, recorded_at FROM events e
    WHERE ${IS_AUDITED} AND personal IS NULL AND (type IN ('PolicyChanged', 'ModeratorAdded')
      OR (type IN ('CommentAdded', 'NoteRejected', 'NoteRemoved', 'NoteEscalated')
        AND stream_id IN ('note-' || owner_id, 'comment-note-' || owner_id)
        AND ${ofNote('n.stream_version = 1', "AND n.actor->>'type' = 'guest'")}
        AND NOT ${ofNote("n.type = 'NoteErased'")}
        AND NOT EXISTS (SELECT FROM events d WHERE d.owner_id = e.owner_id
          AND d.stream_id = e.stream_id AND d.type = 'CommentDeleted'
          AND d.data->>'of' = e.event_id::text)))
    ORDER BY position`);
}

export const describeLoss = ({ position, type, stream_id, stream_version }: LostWords): string =>
  `The log has lost the words of ${type} at position ${position}, version ${stream_version} of ${stream_id}`;
