import { ROLES, type Role } from '../permissions.ts';

export const READERS: readonly Role[] = ROLES;
export const CLAIMERS: readonly Role[] = ['triage', 'moderator', 'lead'];
export const DECIDERS: readonly Role[] = ['moderator', 'lead'];
export const LEADS: readonly Role[] = ['lead'];

/** Actions that keep an item public come first, so that the first button never removes anything. */
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

/** The roles that may take each action. */
export const ROLES_BY_ACTION: Readonly<Record<Action, readonly Role[]>> = {
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
