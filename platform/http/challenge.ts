import type { ProblemCode } from './problems.ts';

const UNAUTHENTICATED: readonly ProblemCode[] = [
  'credential_required',
  'credential_not_accepted',
  'moderator_required',
];

/**
 * Returns the `WWW-Authenticate` value of a refusal (RFC 6750, section 3), or undefined if the
 * refusal has none. `bearerSent`: the request carried a bearer on a route that reads bearers.
 */
export function bearerChallenge(
  code: ProblemCode,
  details: Readonly<Record<string, unknown>>,
  bearerSent: boolean,
): string | undefined {
  if (code === 'scope_required')
    return `Bearer error="insufficient_scope", scope="${details.scope}"`;
  if (!UNAUTHENTICATED.includes(code)) return undefined;
  return bearerSent ? 'Bearer error="invalid_token"' : 'Bearer';
}
