import type {
  EndAppealPeriod,
  EraseNote,
  EscalateOldNote,
} from '../../domain/guestbook/scheduled-decisions.ts';
import {
  NOTE_TEXTS,
  noteCommentStream,
  noteStream,
  screeningStream,
} from '../../domain/guestbook/words.ts';
import { eraseStreams, eraseWords } from '../../platform/eventstore/erasure.ts';
import { type Command, defineCommand, NOTHING_TO_DO } from '../../platform/eventstore/handle.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { locking, type Sql, sql } from '../../platform/sql.ts';
import { type NoteOwner, ownerOfNote } from '../../projections/guestbook/notes.ts';
import { loadNote } from './note-stream.ts';

/** Runs a scheduled command on a note; returns whether there was anything to do. */
export function scheduledCommand(
  { note_id }: NoteOwner,
  command: (now: Date) => EndAppealPeriod | EscalateOldNote | EraseNote,
  /** Further statements to run if the command recorded an event. */
  changes: readonly Sql[] = [],
): Command<boolean> {
  const row = locking(
    sql<NoteOwner>`SELECT note_id, owner_id, member_id FROM notes WHERE note_id = ${note_id} FOR UPDATE`,
  );
  return defineCommand({
    load: { note: loadNote(row, note_id) },
    decide({ note }, now) {
      const decided = note?.decide(command(now));
      if (!decided || isRefusal(decided) || decided.events.length === 0) return NOTHING_TO_DO;
      return { appends: [decided], rows: changes, reply: () => true };
    },
  });
}

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
        AND type = ANY($5) OR stream_id = $4)`,
    [owner, noteStream(noteId), version, screeningStream(noteId), NOTE_TEXTS],
  );
}

/** Erases a rejected, removed or withdrawn note; returns whether there was anything to erase. */
export function eraseCommand(row: NoteOwner, cause: EraseNote['cause']): Command<boolean> {
  const gone = erasePersonal(ownerOfNote(row), row.note_id);
  return scheduledCommand(row, () => ({ type: 'EraseNote', cause }), gone);
}
