import type { Role } from '../../platform/http/principal.ts';
import { conflict, isRefusal, wrongState } from '../../platform/refusal.ts';
import { notifiedAt, undoRight } from '../publications/undo.ts';
import { reviewBefore } from './evolve.ts';
import { type DecisionResult, versionRefusal } from './moderator-decisions.ts';
import { endWithAuthor } from './scheduled-decisions.ts';
import { type Decision, type ExistingNote, settledReports, standingDecision } from './state.ts';

export interface UndoDecision {
  type: 'UndoDecision';
  /** Null: accepts any version in which the decision is current. */
  expectedVersion: number | null;
  /** The event to undo. */
  of: string;
  moderatorId: string;
  role: Role;
  /** The author's account is closed, so a note that stops being public is erased. */
  authorGone: boolean;
  undoSeconds: number;
  now: Date;
  batchId?: string;
}

/** Undoes the current decision, as `undoRight` allows. */
export function decideUndo(state: ExistingNote, command: UndoDecision): DecisionResult {
  const { of, now, undoSeconds } = command;
  const standing = standingDecision(state);
  const erased = 'erased' in state && state.erased;
  if (standing?.eventId !== of || erased || isDeferralOver(state, standing, now))
    return wrongState(state);
  const right = undoRight({ kind: standing.kind, moderatorId: standing.by.id ?? null }, command);
  if (isRefusal(right)) return right;
  const refused = versionRefusal(state, command.expectedVersion);
  if (refused) return refused;
  if (right === 'within_window' && now >= notifiedAt(standing.at, undoSeconds))
    return conflict('undo_expired');
  const batch = command.batchId ? { batch_id: command.batchId } : {};
  const undone = {
    type: 'DecisionUndone' as const,
    data: {
      note_id: state.noteId,
      of,
      decision: standing.kind,
      ...reviewAfterUndo(state),
      ...batch,
    },
    personal: null,
  };
  if (standing.kind === 'approved' && command.authorGone)
    return [undone, ...endWithAuthor(state.noteId, settledReports(state.reports.open))];
  if (standing.kind !== 'removed') return [undone];
  // After an undo, a note is public only if a later event says so.
  const restored = { note_id: state.noteId, claimed_at: null, ...batch };
  return [undone, { type: 'NoteRestored', data: restored, personal: null }];
}

/** Once a deferred note is due again, there is no deferral left to undo. */
function isDeferralOver(state: ExistingNote, { kind }: Decision, now: Date): boolean {
  if (kind !== 'deferred' || state.status !== 'pending') return false;
  return state.deferredUntil === null || now >= state.deferredUntil;
}

function reviewAfterUndo(state: ExistingNote) {
  const before = state.status === 'pending' ? reviewBefore(state) : null;
  if (!before) return {};
  const { tier, deferredUntil } = before;
  return { review: { tier, deferred_until: deferredUntil?.toISOString() ?? null } };
}
