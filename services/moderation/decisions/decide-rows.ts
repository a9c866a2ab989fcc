import { noteStream, screeningStream } from '../../../domain/guestbook/words.ts';
import { decidedWord } from '../../../domain/moderation/decided.ts';
import { factsOfStreams, lastFact } from '../../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import type { MemberRead } from '../../../platform/eventstore/load.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import { locking, named, type Sql, sql } from '../../../platform/sql.ts';
import type { NoteToDecide } from '../../../projections/guestbook/note-facts.ts';
import {
  type NoteOwner,
  type NoteRow,
  notesByOwner,
  ownerOfNote,
} from '../../../projections/guestbook/notes.ts';
import { hasEnded } from '../../../projections/membership/members.ts';
import type { ModeratorName } from '../../../projections/moderation/moderators.ts';
import { takeOverStream } from '../claims/leases.ts';

type Ids = readonly string[];

/**
 * The members to whose feeds a decision may write: authors and authors of parent notes; null for a
 * guest. Reporters read the outcome once it is final, so only an undo may concern them (`lockMore`).
 * Parents are subselects, here and below, because with a join the planner could search all replies for
 * a note whose id is known.
 */
export const membersConcerned = (ids: Ids): MemberRead =>
  sql`SELECT member_id FROM notes WHERE note_id = ANY(${ids}::uuid[])
    UNION SELECT member_id FROM notes
      WHERE note_id = ANY(ARRAY(SELECT parent_id FROM notes WHERE note_id = ANY(${ids}::uuid[])))`;

/** Members with an open report, whom an undo concerns if it ends a note or an appeal was granted. */
export const membersWithReports = (ids: Ids): MemberRead =>
  sql`SELECT member_id FROM note_reports
    WHERE note_id = ANY(${ids}::uuid[]) AND state = 'open'`;

// A decision locks the moderator and then the note, in the same order as a claim. Stream versions do
// not suffice: a claim is no event, and the parent of a note has its own stream.
export type LockedNote = NoteRow & {
  author_gone: boolean;
  /** Whether the note ends with its author's account, although its own stream does not say so yet. */
  ended: boolean;
};

export const lockNotes = (ids: Ids): Sql<LockedNote> =>
  locking(
    named(
      `SELECT n.*, coalesce((SELECT m.state = 'deactivated' FROM members m
        WHERE m.member_id = n.member_id), false) AS author_gone, ${hasEnded('n')} AS ended
      FROM notes n WHERE note_id = ANY($1::uuid[]) ORDER BY note_id FOR UPDATE`,
      [ids],
    ),
    { exclusive: ids.map(noteStream) },
  );

/** Reads the parents of the notes and blocks decisions on them. */
export function holdParents(notes: readonly NoteToDecide[]): Sql<NoteRow> | null {
  const ids = [...new Set(notes.flatMap(({ parent_id }) => parent_id ?? []))];
  if (ids.length === 0) return null;
  return locking(
    sql`SELECT * FROM notes WHERE note_id = ANY(${ids}::uuid[]) ORDER BY note_id FOR SHARE`,
    { shared: ids.filter((id) => notes.every(({ note_id }) => note_id !== id)).map(noteStream) },
  );
}

/** Reads the streams of the screenings of the notes, one statement per owner. */
export const readScreenings = (notes: readonly NoteOwner[]): Sql<RecordedEvent>[] =>
  notesByOwner(notes).map(([owner, own]) =>
    factsOfStreams(
      owner,
      own.map(({ note_id }) => screeningStream(note_id)),
    ),
  );

/** Reads which claims on the notes were taken over last. */
export const readTakeOvers = (notes: readonly NoteOwner[]): Sql<RecordedEvent>[] =>
  notes.map((note) =>
    lastFact(ownerOfNote(note), takeOverStream({ type: 'note', id: note.note_id })),
  );

/** Adds to a conflict which moderator decided first, what they decided, and when. */
export function withWinner<Code extends string>(
  refusal: Refusal<Code>,
  events: readonly RecordedEvent[],
  moderators: readonly ModeratorName[],
): Refusal<Code> {
  const { reason } = refusal.details ?? {};
  const last = events.findLast(({ actor }) => actor.type === 'moderator' && actor.id);
  if (!last || (reason !== 'wrong_state' && reason !== 'version_mismatch')) return refusal;
  const decision = decidedWord(last.type);
  return refuse(refusal.refused, {
    ...refusal.details,
    decided_by: { id: last.actor.id, name: nameOf(last, moderators) },
    decided_at: last.recorded_at.toISOString(),
    ...(decision ? { decision } : {}),
  });
}

const nameOf = ({ actor }: RecordedEvent, moderators: readonly ModeratorName[]): string =>
  moderators.find(({ moderator_id }) => moderator_id === actor.id)?.name ?? '';
