import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import { type Sql, sql } from '../../../platform/sql.ts';
import type { NoteOwner } from '../../../projections/guestbook/notes.ts';
import type { NamedEvent } from '../../../projections/moderation/actor-names.ts';
import type { CommentSubject } from '../queue/subject.ts';
import type { HistoryEvent, ThreadNote } from './contract.ts';

/** The most siblings, and the most replies, in a thread: as many as a person reads. */
const THREAD = 50;

export interface ThreadRow {
  note_id: string;
  relation: ThreadNote['relation'];
  state: ThreadNote['state'];
  name: string | null;
  message: string | null;
  submitted_at: Date;
}

/** A note's parent, the newest other replies to the parent, and the newest replies to the note. */
export function listThread(noteId: string): Sql<ThreadRow> {
  return sql`WITH self AS (SELECT note_id, parent_id FROM notes WHERE note_id = ${noteId}),
    thread AS (
      SELECT n.*, 'parent' AS relation FROM notes n JOIN self ON n.note_id = self.parent_id
      UNION ALL (SELECT n.*, 'sibling' FROM notes n JOIN self ON n.parent_id = self.parent_id
        WHERE n.note_id <> self.note_id ORDER BY n.submitted_at DESC LIMIT ${THREAD})
      UNION ALL (SELECT n.*, 'reply' FROM notes n JOIN self ON n.parent_id = self.note_id
        ORDER BY n.submitted_at DESC LIMIT ${THREAD}))
    SELECT t.note_id, t.relation, t.state, coalesce(m.handle, t.name) AS name, t.message,
      t.submitted_at
    FROM thread t LEFT JOIN members m ON m.member_id = t.member_id
    ORDER BY t.submitted_at, t.note_id`;
}

export function threadBody(row: ThreadRow): ThreadNote {
  return {
    id: row.note_id,
    relation: row.relation,
    state: row.state,
    name: row.name ?? '',
    text: row.message ?? '',
    received_at: row.submitted_at.toISOString(),
  };
}

/** The stream of moderators' comments on a subject; the author of the subject owns it. */
export const commentStream = ({ type, id }: CommentSubject): string => `comment-${type}-${id}`;

/** All events of a note: its own, its screenings, notifications, comments, and claims taken over. */
export function eventsOfNote({ note_id, owner_id }: NoteOwner): Sql<RecordedEvent> {
  return sql`SELECT * FROM events WHERE owner_id = ${owner_id}::uuid AND stream_id = ANY(ARRAY(
      VALUES ('note-' || ${note_id}::text), ('screening-' || ${note_id}::text),
        ('comment-note-' || ${note_id}::text), ('claim-note-' || ${note_id}::text)
      UNION ALL SELECT 'telling-' || event_id FROM events
        WHERE owner_id = ${owner_id}::uuid AND stream_id = 'note-' || ${note_id}::text))
      AND type <> 'NoteFingerprinted'
    ORDER BY position`;
}

/** A note's history: each event with the version that the note had at that time. */
export function noteHistory(events: readonly NamedEvent[]): HistoryEvent[] {
  let version = 0;
  return events.map((event) => {
    if (event.stream_id.startsWith('note-')) version = event.stream_version;
    return { ...historyBody(event), version };
  });
}

/** An event as moderators read it: actor, time, facts and text. */
export function historyBody(event: NamedEvent): HistoryEvent {
  const { actor, actor_name } = event;
  const { note_id: _, ...data } = event.data as Record<string, unknown>;
  return {
    event_id: event.event_id,
    version: event.stream_version,
    type: event.type,
    at: event.recorded_at.toISOString(),
    actor: { ...actor, ...(actor_name === null ? {} : { name: actor_name }) },
    data,
    text: textOf(event),
  };
}

function textOf({ personal }: Pick<RecordedEvent, 'personal'>): string | null {
  const said = (personal ?? {}) as Record<string, string | null | undefined>;
  return said.message ?? said.why ?? said.details ?? said.text ?? null;
}
