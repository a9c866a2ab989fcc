import type { Actor } from '../../platform/eventstore/event.ts';
import type * as events from './events.ts';
import type { Experience } from './words.ts';

/** The events of a note's stream. */
export type NoteEvents = Exclude<(typeof events)[keyof typeof events], typeof events.DecisionTold>;

/** Facts about the note that a reply answers; commands carry null if that note does not exist. */
export interface ParentFacts {
  state: string;
  experience: string;
  parent_id: string | null;
  member_id: string | null;
}

/** A decision that can be undone or appealed: its event, its actor and its time. */
export interface Decision {
  eventId: string;
  kind:
    | 'approved'
    | 'rejected'
    | 'removed'
    | 'deferred'
    | 'escalated'
    | 'kept'
    | 'granted'
    | 'upheld';
  by: Actor;
  at: Date;
}

export interface Report {
  report_id: string;
  member_id: string | null;
  reason: string;
  /** The version of the note with this report. */
  version: number;
  at: Date;
}

/** Fields that a note has in every state. */
export interface NoteBase {
  noteId: string;
  experience: Experience;
  memberId: string | null;
  parentId: string | null;
  /** The version of the stream, which increases by one with each event. */
  version: number;
  /** The version after the last event that a moderator has to have seen before deciding. */
  reviewVersion: number;
  reports: {
    open: readonly Report[];
    /** Reasons that a moderator has reviewed and dismissed. */
    dismissed: readonly string[];
    /** Members who have reported the note; kept permanently. */
    members: readonly string[];
    /** Reports of guests for dismissed reasons. */
    silentOfGuests: number;
  };
}

export interface PendingNote extends NoteBase {
  status: 'pending';
  tier: 'lead' | 'normal';
  deferrals: number;
  deferredUntil: Date | null;
  /** How often its author has corrected the text. */
  corrections: number;
  /** The last deferral or escalation by a moderator, and the note's state before it. */
  undoable: Undoable<PendingNote> | null;
}

interface Undoable<Before> {
  decision: Decision;
  before: Before;
}

export interface ApprovedNote extends NoteBase {
  status: 'approved';
  /** The approval or the granted appeal; null after a restoration, which cannot be undone. */
  undoable: Undoable<PendingNote | RejectedNote | RemovedNote> | null;
  /** The latest dismissal of reports, and the reports before it. */
  kept: Undoable<Pick<NoteBase['reports'], 'open' | 'dismissed'>> | null;
}

export interface OpenedAppeal {
  status: 'open';
  appealId: string;
  memberId: string;
  at: Date;
}

/** The appeal against the current decision; there is at most one. */
export type Appeal =
  | { status: 'none' }
  | OpenedAppeal
  /** `undoable` is null if an earlier release upheld the decision. */
  | { status: 'upheld'; undoable: Undoable<OpenedAppeal> | null }
  | { status: 'period_over' };

export interface RejectedNote extends NoteBase {
  status: 'rejected';
  decision: Decision;
  before: PendingNote;
  appeal: Appeal;
  erased: boolean;
}

export interface RemovedNote extends NoteBase {
  status: 'removed';
  decision: Decision;
  before: ApprovedNote;
  appeal: Appeal;
  /** The reports that the removal settled. */
  settled: readonly Report[];
  erased: boolean;
}

interface Withdrawn extends NoteBase {
  status: 'withdrawn';
  erased: boolean;
}

export type NoteState =
  | { status: 'none' }
  | PendingNote
  | ApprovedNote
  | RejectedNote
  | RemovedNote
  | Withdrawn;
export type ExistingNote = Exclude<NoteState, { status: 'none' }>;

/** Whether a note takes replies: it is public, top-level and of the same experience. */
export function takesReplies(
  parent: Pick<ParentFacts, 'state' | 'parent_id' | 'experience'> | null | undefined,
  experience: string,
): boolean {
  return (
    parent?.state === 'approved' && parent.parent_id === null && parent.experience === experience
  );
}

/** The decision that led to the note's current state, or null if there is none to undo. */
export function standingDecision(state: NoteState): Decision | null {
  if (state.status === 'approved' || state.status === 'pending')
    return state.undoable?.decision ?? null;
  return state.status === 'rejected' || state.status === 'removed' ? state.decision : null;
}

/** The decision with this event that can be undone: the one in force, or the latest on reports or an appeal. */
export function undoableDecision(state: NoteState, eventId: string): Decision | null {
  const kept = state.status === 'approved' ? state.kept : null;
  const upheld =
    'appeal' in state && state.appeal.status === 'upheld' ? state.appeal.undoable : null;
  const decisions = [standingDecision(state), kept?.decision, upheld?.decision];
  return decisions.find((decision) => decision?.eventId === eventId) ?? null;
}

/** Reports without a final outcome: a rejection that can still be undone has not settled them. */
export function openReports(state: ExistingNote): readonly Report[] {
  return state.status === 'rejected' ? state.before.reports.open : state.reports.open;
}

/** The reports as the event that settles them lists them. */
export const settledReports = (reports: readonly Report[]) =>
  reports.map(({ report_id, member_id }) => ({ report_id, member_id }));
