import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { issuesOf } from '../../../platform/http/issues.ts';
import { type ProblemCode, problemReply } from '../../../platform/http/problems.ts';
import { toProblem } from '../../../platform/http/to-problem.ts';
import { refuse } from '../../../platform/refusal.ts';

/** A failure as reported to the caller: as text, and as the body of the HTTP problem. */
export interface Failure {
  code: ProblemCode;
  text: string;
  body: ReturnType<typeof problemReply>['body'];
}

/** Converts an error to a failure. Private, erased and missing records fail in the same way. */
export function readFailure(logger: Logger, error: unknown, requestId: string): Failure {
  const problem = toProblem(logger, error, requestId);
  const hidden = problem.code === 'gone' || problem.code === 'reply_target_missing';
  const { code, details } = hidden ? refusedAsMissing() : problem;
  const { body } = problemReply(code, details, requestId);
  const issues = issuesOf(details).map(
    ({ path, message }) => ` ${path ? `${path}: ` : ''}${message}.`,
  );
  return { code, text: `${code}: ${body.error.message}${issues.join('')}`, body };
}

function refusedAsMissing() {
  const { refused } = refuse('not_found');
  return { code: refused, details: {} };
}

/** Converts an error to a protocol error, for requests that no tool answers. */
export function protocolError(
  logger: Logger,
  error: unknown,
  requestId: string,
  uri: string,
): ProtocolError {
  const { code, text } = readFailure(logger, error, requestId);
  return code === 'not_found' || code === 'invalid_request'
    ? new ResourceNotFoundError(uri)
    : new ProtocolError(ProtocolErrorCode.InternalError, text);
}
