import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { invoke, type Operations } from '../../../platform/http/invoke.ts';
import {
  Problem,
  type ProblemCode,
  problemFrom,
  problemReply,
} from '../../../platform/http/problems.ts';
import { responseBody } from '../../../platform/http/respond.ts';
import type { RequestContext } from '../../../platform/http/route.ts';
import { toProblem } from '../../../platform/http/to-problem.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';

export type Json = Record<string, unknown>;

/** Runs read operations of the HTTP routes for one request, as an anonymous caller. */
export interface Reader {
  read(operation: string, input?: Asked): Promise<Json>;
}

interface Asked {
  params?: Record<string, string | undefined>;
  query?: Record<string, string | number | undefined>;
}

export function createReader(
  operations: Operations,
  apiOpen: boolean,
  request: RequestContext,
): Reader {
  return {
    async read(id, { params = {}, query = {} } = {}) {
      const operation = operations.get(id);
      if (!operation) throw new Error(`there is no operation ${id}`);
      if (operation.route.gated && !apiOpen) throw new Problem('api_disabled');
      const input = { params: textsOf(params), query: textsOf(query), body: undefined };
      const reply = await invoke(operation, { kind: 'anonymous' }, input, request);
      if (isRefusal(reply)) throw problemFrom(reply);
      return responseBody(reply);
    },
  };
}

/** The values that are present, as strings like in a URL. */
function textsOf(given: Record<string, string | number | undefined>): Record<string, string> {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, String(value)]));
}

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
  const issues = ((details as { issues?: Issue[] }).issues ?? []).map(
    ({ path, message }) => ` ${path ? `${path}: ` : ''}${message}.`,
  );
  return { code, text: `${code}: ${body.error.message}${issues.join('')}`, body };
}

interface Issue {
  path: string;
  message: string;
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
