import { conflict, refuse, wrongState } from '../../platform/refusal.ts';
import { notifiedAt } from './author-decisions.ts';
import { reviewBefore } from './evolve.ts';
import { type DecisionResult, staleVersion } from './moderator-decisions.ts';
import { endWithAuthor } from './scheduled-decisions.ts';
import { type Decision, type ExistingNote, standingDecision } from './state.ts';

export interface UndoDecision {
  type: 'UndoDecision';
  /** Null: accepts any version in which the decision is current. */
  expectedVersion: number | null;
  /** The event to undo. */
  of: string;
  moderatorId: string;
  lead: boolean;
  /** Whether the moderator's role may decide on notes. */
  decides: boolean;
  /** The author's account is closed, so a note that stops being public is erased. */
  authorGone: boolean;
  undoSeconds: number;
  now: Date;
  batchId?: string;
}

/**
 * Undoes the current decision. The moderator who made it may do so within the undo window, a lead
 * at any time. Every moderator who may decide can undo a deferral, since a deferral hides the note
 * from everyone.
 */
export function decideUndo(state: ExistingNote, command: UndoDecision): DecisionResult {
  const { of, now, undoSeconds, lead, decides } = command;
  const standing = standingDecision(state);
  const erased = 'erased' in state && state.erased;
  if (standing?.eventId !== of || erased || isDeferralOver(state, standing, now))
    return wrongState(state);
  const anyTime = lead || (standing.kind === 'deferred' && decides);
  if (!anyTime && standing.by.id !== command.moderatorId)
    return refuse('role_required', {
      roles: standing.kind === 'deferred' ? ['moderator', 'lead'] : ['lead'],
    });
  const refused = staleVersion(state, command.expectedVersion);
  if (refused) return refused;
  if (!anyTime && now >= notifiedAt(standing.at, undoSeconds)) return conflict('undo_expired');
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
    return [undone, ...endWithAuthor(state.noteId, state.reports.open)];
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
