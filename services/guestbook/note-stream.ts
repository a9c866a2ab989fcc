import { type NoteCommand, type NoteRefusal, note } from '../../domain/guestbook/note.ts';
import { noteStream } from '../../domain/guestbook/words.ts';
import { type OwnAppend, streamVersion } from '../../platform/eventstore/append.ts';
import type { NewEvent, RecordedEvent } from '../../platform/eventstore/event.ts';
import { derive } from '../../platform/eventstore/load.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import { isRefusal, type Refusal } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import {
  currentFacts,
  noteFacts,
  type SettledReportsOf,
} from '../../projections/guestbook/note-facts.ts';
import { type NoteOwner, ownerOfNote, publicNoteOwner } from '../../projections/guestbook/notes.ts';
import type { ProvableRecord } from '../publications/publication-kind.ts';

/**
 * The stream of a note, from its events. Unlike those of `defineStream`, its state follows from recorded events, whose
 * ids and times the deciders need.
 */
export function noteStreamOf(owner: Owner, noteId: string, events: readonly RecordedEvent[]) {
  const state = note.replay(events);
  const version = streamVersion(events);
  const append = (decided: NewEvent[]): OwnAppend => ({
    owner,
    stream: noteStream(noteId),
    version,
    events: decided,
  });
  return {
    state,
    version,
    append,
    /** Decides on the command; returns what to append, which may have no event. */
    decide(command: NoteCommand): OwnAppend | Refusal<NoteRefusal> {
      const decided = note.decide(state, command);
      return isRefusal(decided) ? decided : append(decided);
    },
  };
}

/**
 * Loads a note to decide on: the row that `row` reads, and its stream; undefined without a row. Where `row` locks, it
 * does so in the order of a decision, which locks the row before it appends: otherwise they deadlock.
 */
export const loadNote = <Row extends NoteOwner>(
  row: Sql<Row>,
  noteId: string,
  settled: SettledReportsOf = {},
) =>
  derive(
    { rows: row, facts: noteFacts([noteId], settled) },
    ({ rows: [found], facts }) =>
      found && {
        row: found,
        ...noteStreamOf(ownerOfNote(found), noteId, currentFacts(facts)),
      },
  );

/** A corrected note has its text in the event of the correction; that of the submission is erased. */
export const provableNote: ProvableRecord = {
  type: 'note',
  owner: publicNoteOwner,
  stream: noteStream,
  events: {
    NoteSubmitted: [
      'data.note_id',
      'data.experience',
      'data.attribution',
      'data.parent_id',
      'personal.name',
      'personal.message',
    ],
    NoteCorrected: ['data.note_id', 'personal.message'],
  },
};
