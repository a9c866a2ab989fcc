import { conflict, refuse, wrongState } from '../../platform/refusal.ts';
import { reviewBefore } from './evolve.ts';
import { type Decided, staleVersion } from './moderator-decisions.ts';
import { endWithAuthor } from './scheduled-decisions.ts';
import { type Decision, type KnownNote, standingDecision } from './state.ts';

export interface UndoDecision {
  type: 'UndoDecision';
  /** Null: whatever it is, as long as the decision stands. */
  expectedVersion: number | null;
  /** The event to undo. */
  of: string;
  moderatorId: string;
  lead: boolean;
  /** Whether the moderator's role may decide on notes. */
  decides: boolean;
  /** The author's account has ended: a note of it that is not public is erased. */
  authorGone: boolean;
  undoSeconds: number;
  now: Date;
  batchId?: string;
}

/**
 * Undoes the decision that stands: for a while whoever made it may, a lead at any time, and a
 * deferral, which hides a note from everybody, any moderator who may decide.
 */
export function decideUndo(state: KnownNote, command: UndoDecision): Decided {
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
  if (!anyTime && now.getTime() >= standing.at.getTime() + undoSeconds * 1000)
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
    return [undone, ...endWithAuthor(state.noteId, state.reports.open)];
  if (standing.kind !== 'removed') return [undone];
  // No note is public without an event after the last undo that says so.
  const restored = { note_id: state.noteId, claimed_at: null, ...batch };
  return [undone, { type: 'NoteRestored', data: restored, personal: null }];
}

/** A note that is due again has not been put off any more, so there is nothing to bring back. */
function isDeferralOver(state: KnownNote, { kind }: Decision, now: Date): boolean {
  if (kind !== 'deferred' || state.status !== 'pending') return false;
  return state.deferredUntil === null || now >= state.deferredUntil;
}

function reviewAfterUndo(state: KnownNote) {
  const before = state.status === 'pending' ? reviewBefore(state) : null;
  if (!before) return {};
  const { tier, deferredUntil } = before;
  return { review: { tier, deferred_until: deferredUntil?.toISOString() ?? null } };
}
