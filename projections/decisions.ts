import { type Sql, sql } from '../services/eventstore/sql.ts';
import * as events from '../services/notes/events.ts';
import { defineProjection, type EventOf } from './projection.ts';

type Decided = EventOf<typeof events, 'NoteApproved'> | EventOf<typeof events, 'NoteRejected'>;

function insert({ event_id, data, actor, recorded_at }: Decided, decision: string): Sql {
  return sql`INSERT INTO note_decisions (event_id, note_id, moderator_id, decision, decided_at,
      claimed_at)
    VALUES (${event_id}, ${data.note_id}, ${actor.type === 'moderator' ? actor.id : null},
      ${decision}, ${recorded_at}, ${data.claimed_at ?? null})`;
}

/** Decisions on notes by their events: what an undo finds its note by. */
export const decisions = defineProjection(events, {
  name: 'decisions',
  tables: ['note_decisions'],
  on: {
    NoteApproved: (event) => insert(event, 'approved'),
    NoteRejected: (event) => insert(event, 'rejected'),
    DecisionUndone: ({ data, recorded_at }) =>
      sql`UPDATE note_decisions SET undone_at = ${recorded_at} WHERE event_id = ${data.of}`,
  },
});

export interface DecisionRow {
  event_id: string;
  note_id: string;
  moderator_id: string | null;
  decision: 'approved' | 'rejected';
  decided_at: Date;
  undone_at: Date | null;
  /** When whoever decided had taken the note. */
  claimed_at: Date | null;
}

export function findDecision(eventId: string): Sql {
  return sql`SELECT * FROM note_decisions WHERE event_id = ${eventId}`;
}

export interface DecidedNoteRow {
  message: string;
  rejected: boolean;
}

/** The texts that moderators decided on, newest decision first, by what became of them. */
export function standingDecisions(limit: number): Sql {
  return sql`SELECT n.message, n.state <> 'approved' AS rejected
    FROM note_decisions d JOIN notes n ON n.note_id = d.note_id
    WHERE d.undone_at IS NULL AND d.decision IN ('approved', 'rejected')
      AND d.moderator_id IS NOT NULL
      AND n.state IN ('approved', 'rejected', 'removed') AND n.message IS NOT NULL
    ORDER BY d.decided_at DESC LIMIT ${limit}`;
}
