import * as notes from '../../domain/guestbook/events.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import {
  addEntry,
  defineActivity,
  hideEntries,
  shownActor,
  takeDownEntries,
} from '../activity-entry.ts';
import type { EventOf } from '../projection.ts';

/** The member who wrote the note; null for a guest, whose note owns its own stream. */
const authorOf = ({ owner_id }: RecordedEvent, noteId: string): string | null =>
  owner_id === noteId ? null : owner_id;

/**
 * An appeal granted against a rejection makes the note public for the first time. A note that was
 * removed has its entry already.
 */
function granted(event: EventOf<typeof notes, 'AppealGranted'>): Sql[] {
  const { event_id, actor, recorded_at, data } = event;
  const author = authorOf(event, data.note_id);
  return [
    takeDownEntries('note', data.note_id, false),
    sql`INSERT INTO activity (entry_id, type, occurred_at, actor, subject_type, subject_id, author_id)
      SELECT ${event_id}::uuid, 'note.approved', ${recorded_at}::timestamptz,
        ${shownActor(actor)}::jsonb, 'note', ${data.note_id}::uuid, ${author}::uuid
      WHERE NOT EXISTS (SELECT FROM activity
        WHERE subject_id = ${data.note_id} AND subject_type = 'note')`,
  ];
}

/**
 * Undoing an approval drops its entry. Undoing an appeal that was granted against a removal takes the note
 * down again; the undo of a removal has an event after it that makes the note public.
 */
function undone({ data }: EventOf<typeof notes, 'DecisionUndone'>): Sql[] {
  const removed = data.decision === 'granted' && data.refused?.state === 'removed';
  return [
    sql`DELETE FROM activity WHERE entry_id = ${data.of}`,
    ...(removed ? [takeDownEntries('note', data.note_id, true)] : []),
  ];
}

export const notesActivity = defineActivity(notes, {
  NoteApproved: (event) =>
    addEntry(event, 'note.approved', event.data.note_id, authorOf(event, event.data.note_id)),
  AppealGranted: granted,
  NoteRemoved: ({ data }) => takeDownEntries('note', data.note_id, true),
  NoteRestored: ({ data }) => takeDownEntries('note', data.note_id, false),
  DecisionUndone: undone,
  NoteWithdrawn: ({ data }) => hideEntries('note', data.note_id),
  NoteErased: ({ data }) => hideEntries('note', data.note_id),
});
