import { type Refusal, refuse } from '../../platform/refusal.ts';
import { conflict } from '../conflict.ts';
import type { Role } from '../permissions.ts';

const LEAD = ['lead'] as const;
const UNDOERS: readonly Role[] = ['moderator', 'lead'];
/** These decisions only move a note within the queue. */
const UNDOERS_BY_DECISION: Readonly<Record<string, readonly Role[]>> = {
  deferred: ['triage', 'moderator', 'lead'],
  escalated: ['triage', 'moderator', 'lead'],
};

/** The roles that may undo their own decision of this kind. */
export const undoersOfOwn = (decision: string): readonly Role[] =>
  UNDOERS_BY_DECISION[decision] ?? UNDOERS;

interface Undoing {
  decision: {
    kind: string;
    /** Null if the service decided. */
    moderatorId: string | null;
    at: Date;
    /** Whether an appeal against the decision is open. */
    appealed: boolean;
    /** The moderator whose decision this one reviewed, on appeal for example, or null. */
    reviewed: string | null;
  };
  me: { moderatorId: string; role: Role };
  undoSeconds: number;
  now: Date;
}

/**
 * Returns why this moderator may not undo a decision, or null. Its own moderator may within the undo
 * window, unless an appeal is open; a lead may undo the decisions of others at any time, but not one that
 * reviewed the lead's own decision. So it takes a second person to reverse what the author knows, and the
 * first cannot overrule the second. The deciders and the buttons of the console ask this rule.
 */
export function undoRefusal({
  decision,
  me,
  undoSeconds,
  now,
}: Undoing): Refusal<'role_required' | 'state_conflict'> | null {
  const roles = undoersOfOwn(decision.kind);
  if (!roles.includes(me.role)) return refuse('role_required', { roles });
  const isLead = me.role === 'lead';
  if (decision.moderatorId !== me.moderatorId) {
    if (!isLead) return refuse('role_required', { roles: LEAD });
    return decision.reviewed === me.moderatorId ? conflict('second_person_required') : null;
  }
  const within = now < notifiedAt(decision.at, undoSeconds);
  if (within && !decision.appealed) return null;
  return conflict(isLead ? 'second_person_required' : 'undo_expired');
}

/** When the undo window of a decision ends and the author is notified. */
export function notifiedAt(decidedAt: Date, undoSeconds: number): Date {
  return new Date(decidedAt.getTime() + undoSeconds * 1000);
}
