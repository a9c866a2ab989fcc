import type { Operation } from './invoke.ts';
import { isForModerators, isMutation } from './route.ts';

/**
 * What happened for the security of accounts, and its level in the log (OWASP ASVS 5.0, V16). The
 * table of docs/operating/monitoring.md lists them.
 */
export const SECURITY_EVENTS = {
  sign_in_failed: 'warn',
  recovered: 'info',
  recovery_failed: 'warn',
  credential_failed: 'warn',
  passkey_added: 'info',
  passkey_removed: 'info',
  passkey_failed: 'warn',
  passkey_copied: 'warn',
  bearer_refused: 'warn',
  scope_refused: 'warn',
  moderator_refused: 'warn',
  moderator_action: 'info',
} as const;

export type SecurityEvent = keyof typeof SECURITY_EVENTS;

/** The failed attempts of operations that take a key or a token. */
const FAILURES: Readonly<Record<string, SecurityEvent>> = {
  'membership.login': 'sign_in_failed',
  'membership.sign_in': 'sign_in_failed',
  'membership.recover': 'recovery_failed',
  'credential.bootstrap': 'credential_failed',
  'passkey.add': 'passkey_failed',
  'passkey.sign_in': 'sign_in_failed',
  'moderation.sign_in': 'moderator_refused',
};

/** What changes how a member can sign in. */
const SUCCESSES: Readonly<Record<string, SecurityEvent>> = {
  'membership.recover': 'recovered',
  'passkey.add': 'passkey_added',
  'passkey.remove': 'passkey_removed',
};

const REFUSALS: Readonly<Record<string, SecurityEvent>> = {
  credential_not_accepted: 'bearer_refused',
  scope_required: 'scope_refused',
  scope_escalation: 'scope_refused',
  moderator_required: 'moderator_refused',
  role_required: 'moderator_refused',
};

/** The security event of a finished request; `code` is that of its problem, if it was refused. */
export function securityEvent(
  { id, route }: Operation,
  status: number,
  code: string | undefined,
): SecurityEvent | undefined {
  if (code) {
    const failed = status === 401 || status === 403 || code === 'credentials_not_accepted';
    return (failed ? FAILURES[id] : undefined) ?? REFUSALS[code];
  }
  if (status >= 400) return undefined;
  const done = SUCCESSES[id];
  if (done) return done;
  return isForModerators(route) && isMutation(route) ? 'moderator_action' : undefined;
}
