import type { Role } from '../../../platform/http/principal.ts';

export const ROLES = ['triage', 'moderator', 'lead', 'auditor'] as const satisfies readonly Role[];

export const READERS: readonly Role[] = ROLES;
export const CLAIMERS: readonly Role[] = ['triage', 'moderator', 'lead'];
export const DECIDERS: readonly Role[] = ['moderator', 'lead'];
export const LEADS: readonly Role[] = ['lead'];

/** What lets something stand comes first, so that the first button never takes anything down. */
export const ACTIONS = [
  'approve',
  'grant',
  'keep',
  'restore',
  'reject',
  'uphold',
  'remove',
  'escalate',
  'defer',
] as const;
export type Action = (typeof ACTIONS)[number];

/** Who may do what. */
export const ROLES_OF: Readonly<Record<Action, readonly Role[]>> = {
  approve: DECIDERS,
  reject: DECIDERS,
  escalate: CLAIMERS,
  defer: CLAIMERS,
  remove: DECIDERS,
  restore: LEADS,
  keep: DECIDERS,
  grant: DECIDERS,
  uphold: DECIDERS,
};

/** A decision that only moves a note to another place in the queue. */
const isPutOff = (decision: string): boolean => decision === 'deferred' || decision === 'escalated';

/** Who may undo their own decision while its undo window is open. */
export const undoersOfOwn = (decision: string): readonly Role[] =>
  isPutOff(decision) ? CLAIMERS : DECIDERS;

/** Who may undo anybody's decision at any time. */
export const undoersOfAny = (decision: string): readonly Role[] =>
  decision === 'deferred' ? DECIDERS : LEADS;
