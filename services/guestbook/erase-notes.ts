import type { EraseNote } from '../../domain/guestbook/scheduled-decisions.ts';
import { noteCommentStream, noteStream, screeningStream } from '../../domain/guestbook/words.ts';
import { eraseStreams, eraseWords } from '../../platform/eventstore/erasure.ts';
import type { Command } from '../../platform/eventstore/handle.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import type { Sql } from '../../platform/sql.ts';
import { type NoteOwner, ownerOfNote } from '../../projections/guestbook/notes.ts';
import { scheduledCommand } from './scheduled-commands.ts';

/** The streams that may hold text of a note, or about it. */
const streamsOf = (noteId: string): string[] => [
  noteStream(noteId),
  screeningStream(noteId),
  noteCommentStream(noteId),
];

/** Erases the texts of a note from the log. Recorded events allow no other change. */
export const erasePersonal = (owner: Owner, noteId: string): Sql[] =>
  eraseStreams(owner, streamsOf(noteId));

/**
 * Erases the text of a note up to this version of its stream, and what screenings found in it.
 * Comments of moderators stay: they are not the author's words.
 */
export function eraseFormerText({ id: owner }: Owner, noteId: string, version: number): Sql[] {
  return eraseWords(
    `owner_id = $1 AND (stream_id = $2 AND stream_version <= $3
        AND type IN ('NoteSubmitted', 'NoteCorrected') OR stream_id = $4)`,
    [owner, noteStream(noteId), version, screeningStream(noteId)],
  );
}

/** Erases a rejected, removed or withdrawn note; returns whether there was anything to erase. */
export function eraseCommand(row: NoteOwner, cause: EraseNote['cause']): Command<boolean> {
  const gone = erasePersonal(ownerOfNote(row), row.note_id);
  return scheduledCommand(row, () => ({ type: 'EraseNote', cause }), gone);
}
