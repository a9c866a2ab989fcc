/** Why a session of a member ended. */
export const SESSION_ENDS = [
  'signed_out',
  'replaced',
  'revoked',
  'expired',
  'recovery',
  'deactivated',
  'disabled',
] as const;

export type SessionEnd = (typeof SESSION_ENDS)[number];
