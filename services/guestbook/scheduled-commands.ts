import { note } from '../../domain/guestbook/note.ts';
import type {
  EndAppealPeriod,
  EraseNote,
  EscalateOldNote,
} from '../../domain/guestbook/scheduled-decisions.ts';
import { noteStream } from '../../domain/guestbook/streams.ts';
import { streamVersion } from '../../platform/eventstore/append.ts';
import { type Command, defineCommand, NOTHING_TO_DO } from '../../platform/eventstore/handle.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { locking, type Sql, sql } from '../../platform/sql.ts';
import { currentFacts, noteFacts } from '../../projections/guestbook/note-facts.ts';
import { type NoteOwner, ownerOfNote } from '../../projections/guestbook/notes.ts';

/** Runs a scheduled command on a note; returns whether there was anything to do. */
export function scheduledCommand(
  row: NoteOwner,
  command: (now: Date) => EndAppealPeriod | EscalateOldNote | EraseNote,
  /** Further statements to run if the command recorded an event. */
  changes: readonly Sql[] = [],
): Command<boolean> {
  const { note_id } = row;
  const owner = ownerOfNote(row);
  const stream = noteStream(note_id);
  return defineCommand({
    load: {
      // In the order of a decision, which locks the row before it appends: otherwise they deadlock.
      lock: locking(sql`SELECT note_id FROM notes WHERE note_id = ${note_id} FOR UPDATE`),
      facts: noteFacts([note_id]),
    },
    decide({ facts }, now) {
      const events = currentFacts(facts);
      const decided = note.decide(note.replay(events), command(now));
      if (isRefusal(decided) || decided.length === 0) return NOTHING_TO_DO;
      return {
        appends: [{ owner, stream, version: streamVersion(events), events: decided }],
        rows: changes,
        reply: () => true,
      };
    },
  });
}
