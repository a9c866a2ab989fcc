import type { Logger } from 'pino';
import { OutcomeUnconfirmed, Overloaded, StorageUnavailable } from '../postgres/errors.ts';
import { toLoggable } from '../telemetry/loggable.ts';
import { Problem } from './problems.ts';

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
