import type { NoteRow } from '../../projections/notes.ts';
import { readStream, streamVersion } from '../eventstore/append.ts';
import { isRefusal } from '../eventstore/decider.ts';
import type { RecordedEvent } from '../eventstore/event.ts';
import { type Sql, sql } from '../eventstore/sql.ts';
import type { Plan } from '../eventstore/store.ts';
import { note } from './note.ts';
import type { EraseNote } from './upkeep.ts';

/** The streams in which something may be said of a note. */
const streamsOf = (noteId: string): string[] => [`note-${noteId}`, `screening-${noteId}`];

/** What was said goes from the log: the only change that an event may ever know. */
export function erasePersonal(owner: string, noteId: string): Sql {
  return sql`UPDATE events SET personal = NULL
    WHERE owner_id = ${owner} AND stream_id = ANY(${streamsOf(noteId)}) AND personal IS NOT NULL`;
}

/** Erases a rejected, removed or withdrawn note; answers whether there was anything to erase. */
export function erasePlan(
  { note_id, owner_id }: Pick<NoteRow, 'note_id' | 'owner_id'>,
  cause: EraseNote['cause'],
): Plan<boolean> {
  const stream = `note-${note_id}`;
  return {
    load: [
      sql`SELECT note_id FROM notes WHERE note_id = ${note_id} FOR UPDATE`,
      readStream(owner_id, stream),
    ],
    decide({ rows }) {
      const events = rows[1] as unknown as RecordedEvent[];
      const decided = note.decide(note.replay(events), { type: 'EraseNote', cause });
      if (isRefusal(decided) || decided.length === 0) return { unchanged: false };
      return {
        answer: true,
        appends: [
          {
            owner: owner_id,
            stream,
            version: streamVersion(events),
            actor: { type: 'service' },
            events: decided,
          },
        ],
        rows: [erasePersonal(owner_id, note_id)],
      };
    },
  };
}
