import { type DecisionRow, findDecision } from '../../projections/decisions.ts';
import { holdModerator, type ModeratorRow } from '../../projections/moderators.ts';
import type { NoteRow } from '../../projections/notes.ts';
import { streamVersion } from '../eventstore/append.ts';
import { isRefusal, type Refusal, refuse, replay } from '../eventstore/decider.ts';
import type { NewEvent, RecordedEvent } from '../eventstore/event.ts';
import { type Sql, sql } from '../eventstore/sql.ts';
import type { Plan, Writes } from '../eventstore/store.ts';
import type { PrincipalOf } from '../http/principal.ts';
import { unixSeconds } from '../http/schemas.ts';
import { note } from '../notes/note.ts';
import { claimedByOther, type LeaseRow } from './claims.ts';
import type { Decided, DecisionRequest } from './contract.ts';

export type DecideRefusal = 'moderator_required' | 'role_required' | 'not_found' | 'state_conflict';

type Moderator = PrincipalOf<'moderator'>;
type NamedEvent = RecordedEvent & { actor_name: string | null };
type NamedLease = LeaseRow & { name: string | null };

// A claim locks the moderator and then the note, so a decision takes them in that order too.
// A note's row is locked before its stream is read; a parent's, so that it stays as it was read.
const lockNote = (id: string): Sql => sql`SELECT * FROM notes WHERE note_id = ${id} FOR UPDATE`;

const holdParent = (id: string): Sql =>
  sql`SELECT * FROM notes WHERE note_id = (SELECT parent_id FROM notes WHERE note_id = ${id})
    FOR SHARE`;

const readNoteStream = (id: string): Sql =>
  sql`SELECT e.*, m.name AS actor_name FROM notes n
    JOIN events e ON e.owner_id = n.owner_id AND e.stream_id = 'note-' || n.note_id
    LEFT JOIN moderators m ON m.moderator_id = (e.actor->>'id')::uuid
    WHERE n.note_id = ${id} ORDER BY e.stream_version`;

const liveLease = (id: string): Sql =>
  sql`SELECT l.*, m.name FROM note_leases l LEFT JOIN moderators m USING (moderator_id)
    WHERE l.note_id = ${id} AND l.expires_at > clock_timestamp()`;

const authorOf = (id: string): Sql =>
  sql`SELECT member_id FROM notes WHERE note_id = ${id} AND member_id IS NOT NULL`;

/** Approves or rejects; the lease ends with the decision. */
export function decidePlan(
  me: Moderator,
  noteId: string,
  body: DecisionRequest,
  undoSeconds: number,
): Plan<Decided, DecideRefusal> {
  return {
    lock: authorOf(noteId),
    load: [
      holdModerator(me.moderatorId),
      lockNote(noteId),
      holdParent(noteId),
      readNoteStream(noteId),
      liveLease(noteId),
    ],
    decide({ rows }) {
      const [[live], [row], [parent], events, [lease]] = rows as unknown as [
        ModeratorRow[],
        NoteRow[],
        NoteRow[],
        NamedEvent[],
        NamedLease[],
      ];
      if (!live) return refuse('moderator_required');
      if (!row) return refuse('not_found');
      const own = lease?.moderator_id === me.moderatorId;
      const common = {
        expectedVersion: body.expected_version,
        claimedAt: lease && own ? lease.claimed_at.toISOString() : null,
      };
      const decided = note.decide(
        replay(note, events as never[]),
        body.action === 'approve'
          ? { type: 'ApproveNote', ...common, parent: parent ?? null }
          : {
              type: 'RejectNote',
              ...common,
              policy: body.policy,
              message: body.message ?? null,
            },
      );
      if (isRefusal(decided)) return withWinner(decided as Refusal<'state_conflict'>, events);
      if (lease && !own) return claimedByOther(lease);
      return writes(me, row, events, decided, (event) => ({
        status: 'decided',
        state: body.action === 'approve' ? 'approved' : 'rejected',
        undo_until: unixSeconds(new Date(event.recorded_at.getTime() + undoSeconds * 1000)),
      }));
    },
  };
}

/** The note is pending again, at its old place in the queue. */
export function undoPlan(
  me: Moderator,
  decision: DecisionRow,
  expectedVersion: number,
  undoSeconds: number,
): Plan<Decided, DecideRefusal> {
  const { event_id: of, note_id: noteId } = decision;
  return {
    lock: authorOf(noteId),
    load: [
      holdModerator(me.moderatorId),
      lockNote(noteId),
      readNoteStream(noteId),
      findDecision(of),
    ],
    decide({ rows, now }) {
      const [[live], [row], events, [known]] = rows as unknown as [
        ModeratorRow[],
        NoteRow[],
        NamedEvent[],
        DecisionRow[],
      ];
      if (!live) return refuse('moderator_required');
      if (!row || !known) return refuse('not_found');
      const lead = live.role === 'lead';
      if (!lead && known.moderator_id !== me.moderatorId)
        return refuse('role_required', { roles: ['lead'] });
      const end = lead ? Infinity : known.decided_at.getTime() + undoSeconds * 1000;
      const last = events.findLast(
        ({ type }) => type === 'NoteApproved' || type === 'NoteRejected',
      );
      const state = replay(note, events as never[]);
      const decided = note.decide(state, {
        type: 'UndoDecision',
        of,
        // The latest time there is stands for "at any time".
        last: last ? { eventId: last.event_id, undoUntil: new Date(Math.min(end, 8.64e15)) } : null,
        now,
      });
      if (isRefusal(decided)) return withWinner(decided as Refusal<'state_conflict'>, events);
      if (expectedVersion !== row.version)
        return withWinner(
          refuse('state_conflict', { reason: 'version_mismatch', current_version: row.version }),
          events,
        );
      return writes(me, row, events, decided, () => ({
        status: 'undone',
        state: 'pending',
        undo_until: null,
      }));
    },
  };
}

function writes(
  me: Moderator,
  row: NoteRow,
  events: readonly NamedEvent[],
  decided: readonly NewEvent[],
  answer: (event: RecordedEvent) => Pick<Decided, 'status' | 'state' | 'undo_until'>,
): Writes<Decided> {
  return {
    answer: (recorded) => {
      const event = recorded.at(-1);
      if (!event) throw new Error('a decision without an event');
      return { ...answer(event), event_id: event.event_id, version: event.stream_version };
    },
    appends: [
      {
        owner: row.owner_id,
        stream: `note-${row.note_id}`,
        version: streamVersion(events),
        actor: { type: 'moderator', id: me.moderatorId },
        events: decided,
      },
    ],
    rows: [sql`DELETE FROM note_leases WHERE note_id = ${row.note_id}`],
  };
}

/** Whoever came too late learns what stands now, who decided it and when. */
function withWinner(
  refusal: Refusal<'state_conflict'>,
  events: readonly NamedEvent[],
): Refusal<'state_conflict'> {
  const { reason } = refusal.details ?? {};
  const last = events.at(-1);
  if (last?.actor.type !== 'moderator') return refusal;
  if (reason !== 'wrong_state' && reason !== 'version_mismatch') return refusal;
  return refuse('state_conflict', {
    ...refusal.details,
    decided_by: { id: last.actor.id, name: last.actor_name ?? '' },
    decided_at: unixSeconds(last.recorded_at),
  });
}
