import type { Role } from '../../platform/http/principal.ts';
import { conflict, wrongState } from '../../platform/refusal.ts';
import { undoRefusal } from '../publications/undo.ts';
import { reviewBefore } from './evolve.ts';
import { type DecisionResult, versionRefusal } from './moderator-decisions.ts';
import { endWithAuthor } from './scheduled-decisions.ts';
import {
  type Decision,
  type ExistingNote,
  type ParentFacts,
  settledReports,
  standingDecision,
  takesReplies,
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

/**
 * Undoes the current decision, as `undoRefusal` allows. An undo grants the appeal that is open: the
 * note is public, and the author is notified of it.
 */
export function decideUndo(state: ExistingNote, command: UndoDecision): DecisionResult {
  const { of, now, undoSeconds } = command;
  const standing = standingDecision(state);
  const erased = 'erased' in state && state.erased;
  if (standing?.eventId !== of || erased || isDeferralOver(state, standing, now))
    return wrongState(state);
  const appeal = 'appeal' in state && state.appeal.status === 'open' ? state.appeal : null;
  const refused =
    undoRefusal({
      decision: {
        kind: standing.kind,
        moderatorId: standing.by.id ?? null,
        at: standing.at,
        appealed: appeal !== null,
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
      decision: standing.kind,
      ...reviewAfterUndo(state),
      ...batch,
    },
    personal: null,
  };
  if (standing.kind === 'approved' && command.authorGone)
    return [undone, ...endWithAuthor(state.noteId, settledReports(state.reports.open))];
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
