import type { Role } from '../http/principal.ts';

export const ROLES = ['triage', 'moderator', 'lead', 'auditor'] as const satisfies readonly Role[];

export const READERS: readonly Role[] = ROLES;
export const CLAIMERS: readonly Role[] = ['triage', 'moderator', 'lead'];
export const DECIDERS: readonly Role[] = ['moderator', 'lead'];
export const LEADS: readonly Role[] = ['lead'];
