import type {
  EndAppealPeriod,
  EraseNote,
  EscalateOldNote,
} from '../../domain/guestbook/scheduled-decisions.ts';
import { type Command, defineCommand, NOTHING_TO_DO } from '../../platform/eventstore/handle.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { locking, type Sql, sql } from '../../platform/sql.ts';
import type { NoteOwner } from '../../projections/guestbook/notes.ts';
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
