import type { Role } from '../http/principal.ts';

export const ROLES = ['triage', 'moderator', 'lead', 'auditor'] as const satisfies readonly Role[];

export const READERS: readonly Role[] = ROLES;
export const CLAIMERS: readonly Role[] = ['triage', 'moderator', 'lead'];
export const DECIDERS: readonly Role[] = ['moderator', 'lead'];
export const LEADS: readonly Role[] = ['lead'];

export const ACTIONS = [
  'approve',
  'reject',
  'escalate',
  'defer',
  'remove',
  'restore',
  'keep',
  'grant',
  'uphold',
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
