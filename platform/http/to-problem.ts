import type { Logger } from 'pino';
import { OutcomeUnconfirmed, Overloaded, StorageUnavailable } from '../postgres/errors.ts';
import { toLoggable } from '../telemetry/logger.ts';
import { Problem, type ProblemCode, withoutKeys } from './problems.ts';

/**
 * Converts the error of a failed request to a problem. Logs every error that is not a `Problem`.
 */
export function toProblem(logger: Logger, error: unknown, id: string): Problem {
  if (error instanceof Problem) return error;
  const problem = asProblem(error);
  if (problem.code === 'internal_error')
    logger.error({ id, error: toLoggable(error) }, problem.code);
  // A database that restarts fails every request; where each of them failed says nothing.
  else logger.warn({ id, error: toLoggable(error, { stack: false }) }, problem.code);
  return problem;
}

function asProblem(error: unknown): Problem {
  if (error instanceof Overloaded) return new Problem('overloaded');
  if (error instanceof StorageUnavailable) return new Problem('storage_unavailable');
  if (error instanceof OutcomeUnconfirmed) return new Problem('outcome_unconfirmed');
  return new Problem('internal_error');
}

const MAX_SHOWN = 200;

/** The problem for a path that no route has. `isRoute` reports whether a route has a path. */
export function unknownRoute(path: string, isRoute: (path: string) => boolean): Problem {
  return new Problem('not_found', { message: messageFor(path, isRoute) });
}

function messageFor(path: string, isRoute: (path: string) => boolean): string {
  const bare = path.replace(/\/$/, '');
  if (bare === '/api' || bare === '/api/v1')
    return 'No such route. Start at /api/v1/discovery, or read /openapi.json.';
  const shown = withoutKeys(path).slice(0, MAX_SHOWN);
  return bare !== path && isRoute(bare)
    ? `No such route: ${shown}. Use ${withoutKeys(bare).slice(0, MAX_SHOWN)}, without the slash at the end.`
    : `No such route: ${shown}; see /openapi.json.`;
}

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
