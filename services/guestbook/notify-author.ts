import { appealUntil } from '../../domain/guestbook/author-decisions.ts';
import type { DecisionTold } from '../../domain/guestbook/events.ts';
import { tellAuthor } from '../../domain/guestbook/jobs.ts';
import { note } from '../../domain/guestbook/note.ts';
import { type NoteEvents, settledReports, standingDecision } from '../../domain/guestbook/state.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import type { OwnAppend } from '../../platform/eventstore/append.ts';
import type { NewEvent, RecordedEvent } from '../../platform/eventstore/event.ts';
import { type Command, defineCommand, NOTHING_TO_DO } from '../../platform/eventstore/handle.ts';
import type { MemberRead } from '../../platform/eventstore/load.ts';
import type { Job } from '../../platform/eventstore/plan.ts';
import { jobOf } from '../../platform/jobs/job-type.ts';
import { locking, sql } from '../../platform/sql.ts';
import {
  currentFacts,
  noteFactsWithWords,
  readTellings,
} from '../../projections/guestbook/note-facts.ts';
import { type NoteOwner, type NoteRow, ownerOfNote } from '../../projections/guestbook/notes.ts';

type Told = NewEvent<typeof DecisionTold>['data'];

const OUTCOMES: Readonly<Record<string, Told['outcome']>> = {
  NoteApproved: 'approved',
  NoteRejected: 'rejected',
  NoteRemoved: 'removed',
  NoteRestored: 'restored',
};

/** Answers to reports and to appeals. They are announced as they are, unless they were undone. */
const ANSWERS: Readonly<Record<string, Told['outcome']>> = {
  ReportsDismissed: 'kept',
  AppealGranted: 'granted',
  AppealUpheld: 'upheld',
};

/** Events that need a notification job. */
const RELEVANT_TYPES = [...Object.keys(OUTCOMES), ...Object.keys(ANSWERS)];

/**
 * The job that notifies the members concerned after the undo window of the decision. Returns no job
 * if there is no one to notify.
 */
export function notifyAuthorJobs(
  { note_id, member_id, reported_at }: NoteRow,
  parentAuthorId: string | null,
  { version, events }: Pick<OwnAppend, 'version' | 'events'>,
  undoSeconds: number,
): Job[] {
  const index = events.findIndex(
    ({ type, data }) => RELEVANT_TYPES.includes(type) || isRefusedAgain(data),
  );
  if (index < 0 || (!member_id && !parentAuthorId && !reported_at)) return [];
  return [
    jobOf(
      tellAuthor,
      { note_id, version: version + index + 1 },
      // One second more, so that the job never runs before the window has ended.
      undoSeconds > 0 ? { startAfter: undoSeconds + 1 } : {},
    ),
  ];
}

/** A decision to announce: its event, and the refusal that is in force again after an undone grant. */
export interface AnnouncedDecision {
  eventId: string;
  refusedAgain: string | null;
}

/** Notifies the members concerned of a decision's current outcome; returns whether it did so. */
export function notifyAuthorCommand(
  row: NoteOwner,
  { eventId, refusedAgain }: AnnouncedDecision,
  undoSeconds: number,
): Command<boolean> {
  const owner = ownerOfNote(row);
  const settling = refusedAgain === null ? [eventId] : [eventId, refusedAgain];
  return defineCommand({
    find: membersToTell(row.note_id, settling),
    load: {
      // The event goes to another stream, so a concurrent decision would cause no version conflict.
      lock: locking(sql`SELECT note_id FROM notes WHERE note_id = ${row.note_id} FOR SHARE`),
      facts: noteFactsWithWords([row.note_id], { events: settling }),
      told: readTellings(owner, row.note_id),
    },
    decide({ facts, told }, now) {
      const events = currentFacts(facts);
      const event = events.find(({ event_id }) => event_id === eventId);
      const tellings = event ? tellingsOf(event, events, told) : [];
      if (!event || tellings.length === 0) return NOTHING_TO_DO;
      if (now < notifiedAt(event.recorded_at, undoSeconds))
        throw new Error('cannot notify before the undo window has passed');
      const appends = tellings.flatMap((telling): OwnAppend[] => {
        const data = toldFacts(telling, events, undoSeconds);
        if (telling.outcome === 'overturned' && data.reports.length === 0) return [];
        const by = telling.of.actor.type === 'moderator' ? 'moderator' : 'service';
        return [
          {
            owner,
            stream: `telling-${telling.of.event_id}`,
            version: 0,
            actor: { type: by },
            events: [{ type: 'DecisionTold', data, personal: null }],
          },
        ];
      });
      return { appends, reply: () => appends.length > 0 };
    },
  });
}

const isRefusedAgain = (data: unknown): boolean => 'refused' in (data as object);

/** Authors, and the members whose reports these events settled. */
function membersToTell(noteId: string, settling: readonly string[]): MemberRead {
  return sql`SELECT member_id FROM notes WHERE note_id = ${noteId}
    UNION SELECT member_id FROM notes
      WHERE note_id = (SELECT parent_id FROM notes WHERE note_id = ${noteId})
    UNION SELECT member_id FROM note_reports WHERE settled_by_event = ANY(${settling}::uuid[])`;
}

interface Telling {
  of: RecordedEvent<NoteEvents>;
  outcome: Told['outcome'];
  /** The parent note's author to notify of the reply, if the event does not hold the id. */
  parentAuthor?: string | null;
}

/** The notifications that an event needs now. A granted appeal may need that of an approval as well. */
function tellingsOf(
  event: RecordedEvent,
  events: readonly RecordedEvent[],
  told: readonly RecordedEvent<typeof DecisionTold>[],
): Telling[] {
  const of = event as RecordedEvent<NoteEvents>;
  const outcomes = new Map(told.map(({ data }) => [data.of, data.outcome]));
  if (outcomes.has(of.event_id) || isUndone(of, events)) return [];
  if (of.type === 'DecisionUndone') {
    // The refusal in force again was not announced if it was overturned when its window ended.
    const refusal = events.find(({ event_id }) => event_id === of.data.refused?.of);
    return refusal ? tellingsOf(refusal, events, told) : [];
  }
  const other = tellingOf(of, events, told, outcomes);
  const answer = 'undoable' in of.data ? ANSWERS[of.type] : undefined;
  if (!answer) return other ? [other] : [];
  const same = other?.of === of;
  const parentAuthor = (same && other.parentAuthor) || null;
  return [{ of, outcome: answer, parentAuthor }, ...(other && !same ? [other] : [])];
}

/** The notification of a decision that is in force now, or null. */
function tellingOf(
  of: RecordedEvent<NoteEvents>,
  events: readonly RecordedEvent[],
  told: readonly RecordedEvent<typeof DecisionTold>[],
  outcomes: ReadonlyMap<string, Told['outcome']>,
): Telling | null {
  const state = note.replay(events);
  const later = events.slice(events.indexOf(of) + 1);
  const isReturn = (one: RecordedEvent) => isPublishing(one) && !isUndone(one, events);
  if (isReturn(of))
    return state.status === 'approved' && !later.some(isReturn)
      ? returnOf(of, events, told, outcomes)
      : null;
  const outcome = OUTCOMES[of.type];
  if (outcome && standingDecision(state)?.eventId === of.event_id) return { of, outcome };
  const refused = of.type === 'NoteRejected' || of.type === 'NoteRemoved';
  return refused && later.some(isReturn) ? { of, outcome: 'overturned' } : null;
}

/**
 * The notification for the last event that made a note public again, given the notifications that
 * the note's author and the parent note's author have already received.
 */
function returnOf(
  of: RecordedEvent<NoteEvents>,
  events: readonly RecordedEvent[],
  told: readonly RecordedEvent<typeof DecisionTold>[],
  outcomes: ReadonlyMap<string, Told['outcome']>,
): Telling | null {
  const earlier = events.slice(0, events.indexOf(of)) as RecordedEvent<NoteEvents>[];
  const removed = earlier.findLastIndex(({ event_id }) => outcomes.get(event_id) === 'removed');
  // `AppealGranted` itself notifies the author of the return.
  const returned = earlier.findLastIndex(
    (one) =>
      (one.type === 'AppealGranted' && !isUndone(one, events)) ||
      outcomes.get(one.event_id) === 'restored',
  );
  const place = earlier.findLastIndex(({ type }) => type === 'NoteApproved');
  const approval = earlier[place];
  const approved = approval?.type === 'NoteApproved' && !isUndone(approval, events) && approval;
  const replied = told.some(({ data }) => data.parent_author_id !== null);
  const parentAuthor = approved && !replied ? approved.data.parent_author_id : null;
  // The removal was not announced, but it preempted the approval's notification, which is due now.
  if (removed <= returned && approved && !outcomes.has(approved.event_id) && returned < place)
    return { of: approved, outcome: 'approved' };
  const restored = removed > returned && of.type === 'NoteRestored';
  return restored || parentAuthor ? { of, outcome: 'restored', parentAuthor } : null;
}

/** Whether the event makes a rejected or removed note public again. */
const isPublishing = ({ type }: RecordedEvent): boolean =>
  type === 'NoteRestored' || type === 'AppealGranted';

const isUndone = ({ event_id }: RecordedEvent, events: readonly RecordedEvent[]): boolean =>
  (events as RecordedEvent<NoteEvents>[]).some(
    ({ type, data }) => type === 'DecisionUndone' && data.of === event_id,
  );

function toldFacts(
  { of: event, outcome, parentAuthor }: Telling,
  events: readonly RecordedEvent[],
  undoSeconds: number,
): Told {
  const before = note.replay(events.slice(0, events.indexOf(event)));
  if (before.status === 'none') throw new Error(`${event.type} of no note`);
  const { data, personal, recorded_at } = event;
  const refused = event.type === 'NoteRejected' || event.type === 'NoteRemoved';
  return {
    note_id: before.noteId,
    of: event.event_id,
    outcome,
    policy: 'policy' in data ? data.policy : null,
    message: refused && personal !== null && 'message' in personal && personal.message !== null,
    experience: before.experience,
    member_id: before.memberId,
    parent_id: before.parentId,
    parent_author_id: parentAuthor ?? ('parent_author_id' in data ? data.parent_author_id : null),
    appeal_until: refused ? appealUntil(recorded_at, undoSeconds).toISOString() : null,
    reports: refused
      ? settledReports(before.reports.open)
      : event.type === 'ReportsDismissed'
        ? event.data.reports
        : [],
    ...('appeal_id' in data ? { appeal: { appeal_id: data.appeal_id, of: data.of } } : {}),
  };
}
