import { isForModerators, isMutation, type Route } from './route.ts';

/** The events of refusals on any route, by the code of the problem. */
const REFUSALS: Readonly<Record<string, string>> = {
  credential_not_accepted: 'bearer_refused',
  scope_required: 'scope_refused',
  scope_escalation: 'scope_refused',
  moderator_required: 'moderator_refused',
  role_required: 'moderator_refused',
};

/**
 * What a finished request was for the security of accounts, and its level in the log (OWASP ASVS 5.0,
 * V16); `code` is that of its problem, if it was refused. Routes name events of their own; the table of
 * docs/operating/monitoring.md lists all of them.
 */
export function securityEvent(
  route: Route,
  status: number,
  code: string | undefined,
): { event: string; level: 'info' | 'warn' } | undefined {
  const { failed, succeeded } = route.securityEvents ?? {};
  if (code) {
    const isUnproven = status === 401 || status === 403 || code === 'credentials_not_accepted';
    const event = (isUnproven ? failed : undefined) ?? REFUSALS[code];
    return event ? { event, level: 'warn' } : undefined;
  }
  if (status >= 400) return undefined;
  const isAction = isForModerators(route) && isMutation(route);
  const event = succeeded ?? (isAction ? 'moderator_action' : undefined);
  return event ? { event, level: 'info' } : undefined;
}
