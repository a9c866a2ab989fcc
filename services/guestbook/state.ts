import type { Actor } from '../../platform/eventstore/event.ts';
import type * as events from './events.ts';
import type { Experience } from './experience.ts';

/** The events of a note's own stream. */
export type NoteEvents = Exclude<(typeof events)[keyof typeof events], typeof events.DecisionTold>;

/** What is known of the note that is replied to; null where there is no such note. */
export interface ParentFacts {
  state: string;
  experience: string;
  parent_id: string | null;
  member_id: string | null;
}

/** A decision that can be undone, and appealed against: the event, by whom and when. */
export interface Decision {
  eventId: string;
  kind: 'approved' | 'rejected' | 'removed' | 'deferred' | 'escalated';
  by: Actor;
  at: Date;
}

export interface Report {
  report_id: string;
  member_id: string | null;
}

/** What a note keeps whatever its state. */
export interface Known {
  noteId: string;
  experience: Experience;
  memberId: string | null;
  parentId: string | null;
  /** The stream's version: one for each event. */
  version: number;
  reports: {
    open: readonly Report[];
    openReasons: readonly string[];
    /** Reasons that a moderator has looked at and dismissed. */
    dismissed: readonly string[];
    /** Members who reported, for ever. */
    members: readonly string[];
  };
}

export interface Pending extends Known {
  status: 'pending';
  tier: 'lead' | 'normal';
  deferrals: number;
  deferredUntil: Date | null;
  /** The moderator's last deferral or escalation, and the note before it. */
  undoable: Undoable | null;
}

interface Undoable {
  decision: Decision;
  before: Pending;
}

export interface Approved extends Known {
  status: 'approved';
  /** The approval, where it can be undone: a restoration or a granted appeal cannot. */
  undoable: Undoable | null;
}

/** An appeal against the decision that stands: at most one. */
export type Appeal =
  | { status: 'none' }
  | { status: 'open'; appealId: string; memberId: string }
  | { status: 'upheld' }
  | { status: 'period_over' };

export interface Rejected extends Known {
  status: 'rejected';
  decision: Decision;
  before: Pending;
  appeal: Appeal;
  erased: boolean;
}

export interface Removed extends Known {
  status: 'removed';
  decision: Decision;
  before: Approved;
  appeal: Appeal;
  /** The reports that the removal settled. */
  settled: readonly Report[];
  erased: boolean;
}

interface Withdrawn extends Known {
  status: 'withdrawn';
  erased: boolean;
}

export type NoteState = { status: 'none' } | Pending | Approved | Rejected | Removed | Withdrawn;
export type KnownNote = Exclude<NoteState, { status: 'none' }>;

/** A reply's target is public, top-level and of the same experience. */
export function takesReplies(parent: ParentFacts | null | undefined, experience: string): boolean {
  return (
    parent?.state === 'approved' && parent.parent_id === null && parent.experience === experience
  );
}

/** The decision that made a note what it is, if that decision can be undone. */
export function standingDecision(state: NoteState): Decision | null {
  if (state.status === 'approved' || state.status === 'pending')
    return state.undoable?.decision ?? null;
  return state.status === 'rejected' || state.status === 'removed' ? state.decision : null;
}

/** Those that nobody has settled for good: a rejection that may still be undone has not. */
export function openReports(state: KnownNote): readonly Report[] {
  return state.status === 'rejected' ? state.before.reports.open : state.reports.open;
}
