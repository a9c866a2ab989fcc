import type { NoteRow } from '../../projections/notes.ts';
import { type Append, readStream } from '../eventstore/append.ts';
import type { NewEvent, RecordedEvent } from '../eventstore/event.ts';
import { type Sql, sql } from '../eventstore/sql.ts';
import { definePlan, type Job, type Plan } from '../eventstore/store.ts';
import { appealUntil, toldAt } from './author.ts';
import type { DecisionTold } from './events.ts';
import { note } from './note.ts';
import { type NoteEvents, standingDecision } from './state.ts';

type Told = NewEvent<typeof DecisionTold>['data'];

const OUTCOMES: Readonly<Record<string, Told['outcome']>> = {
  NoteApproved: 'approved',
  NoteRejected: 'rejected',
  NoteRemoved: 'removed',
  NoteRestored: 'restored',
};

/**
 * The job that tells those concerned, once the decision can no longer be undone by whoever made it;
 * none where nobody is to be told.
 */
export function tellJobs(
  { note_id, member_id, reported_at }: NoteRow,
  parentAuthorId: string | null,
  { version, events }: Append,
  undoSeconds: number,
): Job[] {
  const index = events.findIndex(({ type }) => type in OUTCOMES);
  if (index < 0 || (!member_id && !parentAuthorId && !reported_at)) return [];
  return [
    {
      queue: 'tell-author',
      data: { note_id, version: version + index + 1 },
      // A second more, so that the job is never there before the window is over.
      ...(undoSeconds > 0 ? { startAfter: undoSeconds + 1 } : {}),
    },
  ];
}

/** Tells of a decision if it still stands; answers whether it told. */
export function tellPlan(
  row: Pick<NoteRow, 'note_id' | 'owner_id'>,
  eventId: string,
  undoSeconds: number,
): Plan<boolean> {
  const stream = `telling-${eventId}`;
  return definePlan({
    lock: membersToTell(row.note_id),
    load: {
      lock: sql`SELECT note_id FROM notes WHERE note_id = ${row.note_id} FOR SHARE`,
      events: readStream(row.owner_id, `note-${row.note_id}`),
      told: readStream(row.owner_id, stream),
    },
    decide({ rows: { events, told }, now }) {
      const event = events.find(({ event_id }) => event_id === eventId);
      if (told.length > 0 || !event) return { unchanged: false };
      const outcome = outcomeNow(event, events, undoSeconds);
      if (!outcome) return { unchanged: false };
      if (now < toldAt(event.recorded_at, undoSeconds))
        throw new Error('a decision that may still be undone is told to nobody');
      const data = facts(event as RecordedEvent<NoteEvents>, outcome, events, undoSeconds);
      if (outcome === 'overturned' && data.reports.length === 0) return { unchanged: false };
      const by = event.actor.type === 'moderator' ? 'moderator' : 'service';
      return {
        answer: true,
        appends: [
          {
            owner: row.owner_id,
            stream,
            version: 0,
            actor: { type: by },
            events: [{ type: 'DecisionTold', data, personal: null }],
          },
        ],
      };
    },
  });
}

function membersToTell(noteId: string): Sql {
  return sql`SELECT member_id FROM notes WHERE note_id = ${noteId}
    UNION SELECT member_id FROM notes
      WHERE note_id = (SELECT parent_id FROM notes WHERE note_id = ${noteId})
    UNION SELECT member_id FROM note_reports WHERE note_id = ${noteId}`;
}

/** What there is to tell of a decision by now; null where it is nothing. */
function outcomeNow(
  event: RecordedEvent,
  events: readonly RecordedEvent[],
  undoSeconds: number,
): Told['outcome'] | null {
  if (stands(events, event, undoSeconds)) return OUTCOMES[event.type] ?? null;
  const { event_id, type } = event;
  if (type !== 'NoteRejected' && type !== 'NoteRemoved') return null;
  const later = events.slice(events.indexOf(event) + 1) as RecordedEvent<NoteEvents>[];
  const undone = later.some((one) => one.type === 'DecisionUndone' && one.data.of === event_id);
  return undone ? null : 'overturned';
}

/** Neither undone nor overtaken by another decision. */
function stands(
  events: readonly RecordedEvent[],
  event: RecordedEvent,
  undoSeconds: number,
): boolean {
  if (event.type !== 'NoteRestored')
    return standingDecision(note.replay(events))?.eventId === event.event_id;
  const index = events.indexOf(event);
  const later = events.slice(index + 1);
  const removal = events.slice(0, index).findLast(({ type }) => type === 'NoteRemoved');
  // Whoever was not told of the removal has nothing to learn.
  const told = removal && toldAt(removal.recorded_at, undoSeconds) <= event.recorded_at;
  return (
    told === true && !later.some(({ type }) => type === 'NoteRemoved' || type === 'NoteWithdrawn')
  );
}

function facts(
  event: RecordedEvent<NoteEvents>,
  outcome: Told['outcome'],
  events: readonly RecordedEvent[],
  undoSeconds: number,
): Told {
  const before = note.replay(events.slice(0, events.indexOf(event)));
  if (before.status === 'none') throw new Error(`${event.type} of no note`);
  const { data, personal, recorded_at } = event;
  const refused = event.type === 'NoteRejected' || event.type === 'NoteRemoved';
  const parentAuthor = 'parent_author_id' in data ? data.parent_author_id : null;
  return {
    note_id: before.noteId,
    of: event.event_id,
    outcome,
    policy: 'policy' in data ? data.policy : null,
    message: refused && personal !== null && 'message' in personal && personal.message !== null,
    experience: before.experience,
    member_id: before.memberId,
    parent_id: before.parentId,
    parent_author_id: parentAuthor,
    appeal_until: refused ? appealUntil(recorded_at, undoSeconds).toISOString() : null,
    reports: refused ? [...before.reports.open] : [],
  };
}
