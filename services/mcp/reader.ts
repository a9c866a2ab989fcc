import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { isRefusal, refuse } from '../eventstore/decider.ts';
import { problemOf } from '../http/failure.ts';
import { invoke, type Operations } from '../http/invoke.ts';
import { Problem, type ProblemCode, problemFrom, problemReply } from '../http/problems.ts';
import { bodyOf } from '../http/respond.ts';
import type { RequestFacts } from '../http/route.ts';

export type Json = Record<string, unknown>;

/** Reads for one request: the operations of the HTTP routes, called by nobody. */
export interface Reader {
  read(operation: string, input?: Asked): Promise<Json>;
}

interface Asked {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
}

export function readerOf(operations: Operations, apiOpen: boolean, request: RequestFacts): Reader {
  return {
    async read(id, { params = {}, query = {} } = {}) {
      const operation = operations.get(id);
      if (!operation) throw new Error(`there is no operation ${id}`);
      if (operation.route.gated && !apiOpen) throw new Problem('api_disabled');
      const given = Object.entries(query).filter(([, value]) => value !== undefined);
      const input = {
        params,
        query: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
        body: undefined,
      };
      const reply = await invoke(operation, { kind: 'anonymous' }, input, request);
      if (isRefusal(reply)) throw problemFrom(reply);
      return bodyOf(reply);
    },
  };
}

/** What may be told of a failure. What is private, gone or missing is told alike. */
export interface Told {
  code: ProblemCode;
  text: string;
}

export function toldOf(logger: Logger, error: unknown, requestId: string): Told {
  const problem = problemOf(logger, error, requestId);
  const hidden = problem.code === 'gone' || problem.code === 'reply_target_missing';
  const { code, details } = hidden ? refusedAsMissing() : problem;
  const { message } = problemReply(code, details, requestId).body.error;
  return { code, text: `${code}: ${message}` };
}

function refusedAsMissing() {
  const { refused } = refuse('not_found');
  return { code: refused, details: {} };
}

/** The same as an error of the protocol, where there is no tool to answer for it. */
export function protocolError(
  logger: Logger,
  error: unknown,
  requestId: string,
  uri: string,
): ProtocolError {
  const { code, text } = toldOf(logger, error, requestId);
  return code === 'not_found' || code === 'invalid_request'
    ? new ResourceNotFoundError(uri)
    : new ProtocolError(ProtocolErrorCode.InternalError, text);
}
