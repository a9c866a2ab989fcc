import type { Issue } from '../../../platform/http/issues.ts';
import { type RpcError, type RpcId, rpcFailure } from '../../../platform/http/json-rpc.ts';
import { type Problem, problemReply } from '../../../platform/http/problems.ts';
import type { AnyReply } from '../../../platform/http/route.ts';
import { bearerChallenge } from '../../../platform/http/to-problem.ts';

/** Errors of A2A 1.0 (section 5.4) and of JSON-RPC. */
const FAULTS = {
  INVALID_REQUEST: [-32600, 'The request is not one JSON-RPC 2.0 call.'],
  METHOD_NOT_FOUND: [-32601, 'There is no such method.'],
  INVALID_PARAMS: [-32602, 'The parameters do not fit.'],
  TASK_NOT_FOUND: [-32001, 'There are no tasks here: every message is answered at once.'],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32003, 'Push notifications are not supported.'],
  UNSUPPORTED_OPERATION: [-32004, 'This operation is not supported.'],
  CONTENT_TYPE_NOT_SUPPORTED: [-32005, 'Only data parts in application/json are taken.'],
  VERSION_NOT_SUPPORTED: [-32009, 'Send the header A2A-Version: 1.0.'],
} as const satisfies Record<string, readonly [number, string]>;

export type FaultName = keyof typeof FAULTS;

/** Thrown if a request violates the protocol. */
export class A2aFault extends Error {
  readonly rpc: RpcError;

  constructor(name: FaultName, message?: string, issues?: readonly Issue[]) {
    const [code, general] = FAULTS[name];
    super(name);
    this.rpc = {
      code,
      message: message ?? general,
      data: [
        ...(issues ? [badRequest(issues)] : []),
        errorInfo(name, 'a2a-protocol.org', name === 'VERSION_NOT_SUPPORTED' ? VERSIONS : {}),
      ],
    };
  }
}

const VERSIONS = { supported_versions: '1.0' };

/** The JSON-RPC error code of an operation's refusal, by HTTP status. */
export const RPC_CODES: Readonly<Record<number, number>> = {
  400: -32602,
  401: -32041,
  403: -32043,
  404: -32044,
  408: -32600,
  409: -32049,
  410: -32044,
  413: -32600,
  415: -32005,
  429: -32042,
  503: -32053,
};

/** Statuses that proxies and HTTP clients act on; all other errors are sent with status 200. */
const TRANSPORT_STATUSES: ReadonlySet<number> = new Set([401, 408, 413, 415, 429, 503]);

const INTERNAL = -32603;
const PARSE_ERROR = -32700;

export function faultReply(
  id: RpcId,
  { code, details, headers }: Pick<Problem, 'code' | 'details' | 'headers'>,
  requestId: string,
): AnyReply {
  const reply = problemReply(code, details, requestId);
  const { message, issues, code: reason, ...facts } = reply.body.error;
  const listed = Array.isArray(issues) ? (issues as Issue[]) : undefined;
  const error: RpcError = {
    code: code === 'invalid_json' ? PARSE_ERROR : (RPC_CODES[reply.status] ?? INTERNAL),
    message,
    data: [
      ...(listed ? [badRequest(listed)] : []),
      errorInfo(reason, 'service', { http_status: reply.status, ...facts }),
    ],
  };
  const challenge = bearerChallenge(code, details, code === 'credential_not_accepted');
  return rpcFailure(TRANSPORT_STATUSES.has(reply.status) ? reply.status : 200, id, error, {
    ...reply.headers,
    ...headers,
    ...(challenge && reply.status === 401 ? { 'www-authenticate': challenge } : {}),
  });
}

function badRequest(issues: readonly Issue[]) {
  return {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: issues.map(({ path, message }) => ({ field: path, description: message })),
  };
}

/** ErrorInfo metadata holds only strings, so values that are not scalars are left out. */
function errorInfo(reason: string, domain: string, facts: Record<string, unknown>) {
  const metadata = Object.fromEntries(
    Object.entries(facts)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(([name, value]) => [name, String(value)]),
  );
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain, metadata };
}
