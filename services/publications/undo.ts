import type { Role } from '../../platform/http/principal.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';

interface Undoers {
  /** The roles that may undo their own decision within the undo window. */
  own: readonly Role[];
  /** The roles that may undo any moderator's decision at any time. */
  any: readonly Role[];
}

const UNDOERS: Undoers = { own: ['moderator', 'lead'], any: ['lead'] };
/** These decisions only move a note within the queue, and a deferral hides it from all moderators. */
const UNDOERS_BY_DECISION: Readonly<Record<string, Undoers>> = {
  deferred: { own: ['triage', 'moderator', 'lead'], any: ['moderator', 'lead'] },
  escalated: { own: ['triage', 'moderator', 'lead'], any: ['lead'] },
};

const undoersOf = (decision: string): Undoers => UNDOERS_BY_DECISION[decision] ?? UNDOERS;

/** The roles that may undo their own decision of this kind. */
export const undoersOfOwn = (decision: string): readonly Role[] => undoersOf(decision).own;

/**
 * When this moderator may undo a decision: at any time, or within its undo window. Refuses with the
 * roles that may. The deciders and the buttons of the console both ask this rule.
 */
export function undoRight(
  decision: { kind: string; moderatorId: string | null },
  me: { moderatorId: string; role: Role },
): 'any_time' | 'within_window' | Refusal<'role_required'> {
  const { own, any } = undoersOf(decision.kind);
  if (any.includes(me.role)) return 'any_time';
  if (!own.includes(me.role)) return refuse('role_required', { roles: own });
  return decision.moderatorId === me.moderatorId
    ? 'within_window'
    : refuse('role_required', { roles: any });
}

/** When the undo window of a decision ends and the author is notified. */
export function notifiedAt(decidedAt: Date, undoSeconds: number): Date {
  return new Date(decidedAt.getTime() + undoSeconds * 1000);
}
