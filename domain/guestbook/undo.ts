import { conflict, wrongState } from '../conflict.ts';
import type { Role } from '../permissions.ts';
import { undoRefusal } from '../publications/undo.ts';
import { reviewBefore } from './evolve.ts';
import { type DecisionResult, versionRefusal } from './moderator-decisions.ts';
import { endWithAuthor, erasedWithAuthor } from './scheduled-decisions.ts';
import {
  type Decision,
  type ExistingNote,
  type OpenedAppeal,
  type ParentFacts,
  type Report,
  settledReports,
  takesReplies,
  undoableDecision,
} from './state.ts';

export interface UndoDecision {
  type: 'UndoDecision';
  /** Null: accepts any version in which the decision is current. */
  expectedVersion: number | null;
  /** The event to undo. */
  of: string;
  moderatorId: string;
  role: Role;
  /** The note that it replies to, for a granted appeal. */
  parent: ParentFacts | null;
  /** The author's account is closed, so a note that stops being public is erased. */
  authorGone: boolean;
  undoSeconds: number;
  now: Date;
  batchId?: string;
}

const UNDOABLE: readonly string[] = [
  'NoteApproved',
  'NoteRejected',
  'NoteRemoved',
  'NoteDeferred',
  'NoteEscalated',
];

/**
 * Whether an event is a decision that can be undone. Answers to reports and appeals say so themselves,
 * because those of earlier releases cannot.
 */
export const isUndoable = ({ type, data }: { type: string; data: unknown }): boolean =>
  UNDOABLE.includes(type) || 'undoable' in (data as object);

/**
 * Undoes the current decision, as `undoRefusal` allows. An undo grants the appeal that is open: the
 * note is public, and the author is notified of it.
 */
export function decideUndo(state: ExistingNote, command: UndoDecision): DecisionResult {
  const { of, now, undoSeconds } = command;
  const undoing = undoableDecision(state, of);
  const erased = 'erased' in state && state.erased;
  if (!undoing || erased || isDeferralOver(state, undoing, now)) return wrongState(state);
  const appeal = 'appeal' in state && state.appeal.status === 'open' ? state.appeal : null;
  const refused =
    undoRefusal({
      decision: {
        kind: undoing.kind,
        moderatorId: undoing.by.id ?? null,
        at: undoing.at,
        appealed: appeal !== null,
        reviewed: reviewedModerator(state, undoing),
      },
      me: command,
      undoSeconds,
      now,
    }) ?? versionRefusal(state, command.expectedVersion);
  if (refused) return refused;
  const batch = command.batchId ? { batch_id: command.batchId } : {};
  const undone = {
    type: 'DecisionUndone' as const,
    data: {
      note_id: state.noteId,
      of,
      decision: undoing.kind,
      ...(undoing.kind === 'deferred' || undoing.kind === 'escalated'
        ? reviewAfterUndo(state)
        : broughtBack(state, undoing)),
      ...batch,
    },
    personal: null,
  };
  if (undoing.kind === 'approved' && command.authorGone)
    return [undone, ...endWithAuthor(state.noteId, settledReports(state.reports.open))];
  if (undoing.kind === 'granted' && command.authorGone)
    return [undone, erasedWithAuthor(state.noteId)];
  if (appeal) {
    const { parent } = command;
    const first = state.status === 'rejected';
    const hidden = state.parentId !== null && !takesReplies(parent, state.experience);
    if (first && hidden) return conflict('parent_not_public');
    const data = {
      note_id: state.noteId,
      claimed_at: null,
      ...batch,
      appeal_id: appeal.appealId,
      of,
      member_id: appeal.memberId,
      parent_id: state.parentId,
      parent_author_id: first ? (parent?.member_id ?? null) : null,
    };
    return [undone, { type: 'AppealGranted', data, personal: { message: null } }];
  }
  if (undoing.kind !== 'removed') return [undone];
  // After an undo, a note is public only if a later event says so.
  const restored = { note_id: state.noteId, claimed_at: null, ...batch };
  return [undone, { type: 'NoteRestored', data: restored, personal: null }];
}

/** The moderator of the decision against which the appeal was that this decision answered. */
function reviewedModerator(state: ExistingNote, { kind }: Decision): string | null {
  if (kind === 'upheld' && state.status !== 'approved' && 'decision' in state)
    return state.decision.by.id ?? null;
  if (kind !== 'granted' || state.status !== 'approved') return null;
  const before = state.undoable?.before;
  return before && 'decision' in before ? (before.decision.by.id ?? null) : null;
}

/** Once a deferred note is due again, there is no deferral left to undo. */
function isDeferralOver(state: ExistingNote, { kind }: Decision, now: Date): boolean {
  if (kind !== 'deferred' || state.status !== 'pending') return false;
  return state.deferredUntil === null || now >= state.deferredUntil;
}

/** What the undo of an answer to reports or to an appeal brings back, as the read models need it. */
function broughtBack(state: ExistingNote, { kind }: Decision) {
  if (kind === 'kept' && state.status === 'approved' && state.kept) {
    return { reported_at: oldest([...state.kept.before.open, ...state.reports.open]) };
  }
  const appealed = 'appeal' in state && state.appeal.status === 'upheld' && state.appeal.undoable;
  if (kind === 'upheld' && appealed) return { appeal: reopened(appealed.before) };
  if (kind !== 'granted' || state.status !== 'approved' || !state.undoable) return {};
  const { before } = state.undoable;
  if (before.status === 'pending' || before.appeal.status !== 'open') return {};
  const { eventId, at, by } = before.decision;
  const former = before.status === 'removed' ? before.settled : before.before.reports.open;
  return {
    appeal: reopened(before.appeal),
    refused: {
      of: eventId,
      state: before.status,
      at: at.toISOString(),
      moderator_id: by.id ?? null,
    },
    reports: settledReports(state.reports.open),
    reported_at: oldest([...former, ...state.reports.open]),
  };
}

const reopened = ({ appealId, at }: OpenedAppeal) => ({
  appeal_id: appealId,
  opened_at: at.toISOString(),
});

const oldest = (reports: readonly Report[]): string | null =>
  reports.length === 0
    ? null
    : new Date(Math.min(...reports.map(({ at }) => at.getTime()))).toISOString();

function reviewAfterUndo(state: ExistingNote) {
  const before = state.status === 'pending' ? reviewBefore(state) : null;
  if (!before) return {};
  const { tier, deferredUntil } = before;
  return { review: { tier, deferred_until: deferredUntil?.toISOString() ?? null } };
}
