/** Every scope that a credential can have. */
export const SCOPES = [
  'profile:write',
  'artifact:publish',
  'case:create',
  'case:claim',
  'case:submit',
  'case:review',
  'case:note',
  'updates:read',
  'credential:manage',
  'account:export',
  'account:delete',
  'report:create',
] as const;

export type Scope = (typeof SCOPES)[number];

/** What moderators may do. */
export const ROLES = ['triage', 'moderator', 'lead', 'auditor'] as const;

export type Role = (typeof ROLES)[number];

/** Gives the platform the words that routes and callers are checked with. */
declare module '../platform/http/principal.ts' {
  interface Permissions {
    scope: (typeof SCOPES)[number];
    role: (typeof ROLES)[number];
  }
}
