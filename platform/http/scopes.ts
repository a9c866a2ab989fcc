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
