import { undoImport } from '../../domain/guestbook/imported-notes.ts';
import { noteStream } from '../../domain/guestbook/words.ts';
import { guestNoteOwner } from '../../domain/owners.ts';
import { type Command, defineCommand } from '../../platform/eventstore/handle.ts';
import { locking, named, sql } from '../../platform/sql.ts';
import { currentFacts, noteFacts } from '../../projections/guestbook/note-facts.ts';
import { noteReporters } from '../../projections/guestbook/note-reports.ts';
import { noteStreamOf } from '../guestbook/note-stream.ts';
import { erasePersonal } from '../guestbook/scheduled-commands.ts';
import { dropLeases } from '../publications/review-leases.ts';

/**
 * Withdraws and erases imported notes in one transaction, in any state; returns how many. Their
 * comments can be imported again afterwards.
 */
export function undoImportCommand(noteIds: readonly string[]): Command<number> {
  return defineCommand({
    // Members who reported the notes hear what became of their reports.
    find: noteReporters(named('SELECT unnest($1::uuid[]) AS note_id', [noteIds])),
    load: {
      // In the order of a decision, which locks the row before it appends: otherwise they deadlock.
      lock: locking(sql`SELECT note_id FROM notes WHERE note_id = ANY(${noteIds}::uuid[])
        ORDER BY note_id FOR UPDATE`),
      facts: noteFacts(noteIds),
      left: sql<{ note_id: string }>`SELECT note_id FROM imported_notes
        WHERE note_id = ANY(${noteIds}::uuid[])`,
    },
    decide({ facts, left }) {
      const streams = Map.groupBy(currentFacts(facts), ({ stream_id }) => stream_id);
      const owned = left.map(({ note_id }) => ({ note_id, owner: guestNoteOwner(note_id) }));
      const appends = owned.map(({ note_id, owner }) => {
        const note = noteStreamOf(owner, note_id, streams.get(noteStream(note_id)) ?? []);
        return note.append(undoImport(note.state));
      });
      return {
        appends,
        rows: [
          ...owned.flatMap(({ note_id, owner }) => erasePersonal(owner, note_id)),
          dropLeases('note', noteIds),
        ],
        reply: () => appends.length,
      };
    },
  });
}
