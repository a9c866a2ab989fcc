import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { type RpcId, rpcFailure, rpcSuccess } from '../../../platform/http/json-rpc.ts';
import type { Authenticators } from '../../../platform/http/principal.ts';
import { Problem, type ProblemCode, problemFrom } from '../../../platform/http/problems.ts';
import {
  CallerGone,
  checkHeaders,
  checkMedia,
  checkOrigin,
  readBody,
  splitUrl,
  valuesLimit,
} from '../../../platform/http/read-request.ts';
import type { AnyReply, RequestContext, Route } from '../../../platform/http/route.ts';
import {
  isJsonObject,
  type JsonObject,
  parseStrictValue,
} from '../../../platform/http/strict-json.ts';
import { toProblem } from '../../../platform/http/to-problem.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { MODERATOR_COOKIE } from '../../moderation/staff/sessions.ts';
import { CallId } from './contract.ts';
import { A2aFault, faultReply } from './fault.ts';
import { type Method, methods, UNSUPPORTED_METHODS } from './methods.ts';
import type { MessageSender, SendDeps } from './send-message.ts';

export interface DispatcherDeps extends SendDeps {
  bearer: Authenticators['bearer'];
  baseUrl: string;
  logger: Logger;
}

/** How much of a body is read before the caller has shown a valid bearer, in bytes. */
const MAX_UNPROVEN_BYTES = 8192;

/**
 * Serves A2A 1.0 over JSON-RPC, strictly. Answers with the first failed check of: headers, origin,
 * media type, size, version, bearer, JSON, envelope, method, parameters. A caller without a bearer is
 * also answered that a method is unknown or unsupported.
 */
export function dispatcher(deps: DispatcherDeps) {
  return async (
    route: Route,
    request: RequestContext & { incoming: IncomingMessage },
  ): Promise<AnyReply> => {
    let id: RpcId = null;
    let left: Record<string, string> = {};
    try {
      const { incoming } = request;
      checkEdge(incoming, route, deps.baseUrl);
      const version = isVersionSupported(incoming);
      const principal = version
        ? await deps.bearer({ authorization: incoming.headers.authorization, cookie: undefined })
        : undefined;
      if (!principal || isRefusal(principal)) {
        const received = await peek(incoming, route);
        // What was not read of a body would be taken for the next request.
        if (!incoming.complete) left = { connection: 'close' };
        id = received ? idOf(received) : null;
        if (!principal) throw new A2aFault('VERSION_NOT_SUPPORTED');
        if (typeof received?.method === 'string') findMethod(received.method);
        throw problemFrom(principal);
      }
      const received = readRequest(await readBody(incoming, route), route);
      id = received ? idOf(received) : null;
      const { method, params } = readEnvelope(received);
      const caller = { principal, request, headers: {} };
      const result = await dispatch(deps, method, params, caller);
      return { ...rpcSuccess(id, result), headers: caller.headers };
    } catch (error) {
      if (error instanceof A2aFault) return rpcFailure(200, id, error.rpc, left);
      if (error instanceof CallerGone) throw error;
      const reply = faultReply(id, toProblem(deps.logger, error, request.id), request.id);
      return { ...reply, headers: { ...left, ...reply.headers } };
    }
  };
}

function checkEdge(incoming: IncomingMessage, route: Route, baseUrl: string): void {
  checkHeaders(incoming, route);
  checkOrigin(incoming, route, { baseUrl, moderatorCookie: MODERATOR_COOKIE });
  checkMedia(incoming, route);
}

/** Problems of a body that has no call to look at. */
const NO_CALL: readonly ProblemCode[] = ['invalid_json', 'body_too_large'];

/**
 * Reads what a caller without a bearer sent, for its id and method; undefined for a long body and
 * for anything but one object.
 */
async function peek(incoming: IncomingMessage, route: Route): Promise<JsonObject | undefined> {
  if (Number(incoming.headers['content-length'] ?? 0) > MAX_UNPROVEN_BYTES) return undefined;
  try {
    return readRequest(await readBody(incoming, route, MAX_UNPROVEN_BYTES), route);
  } catch (error) {
    if (!(error instanceof Problem) || !NO_CALL.includes(error.code)) throw error;
    return undefined;
  }
}

/** Undefined for a batch or a bare value, which are valid JSON but not a call. */
function readRequest(bytes: Buffer, route: Route): JsonObject | undefined {
  const value = parseStrictValue(bytes, valuesLimit(route));
  return isJsonObject(value) ? value : undefined;
}

function idOf({ id }: JsonObject): RpcId {
  return CallId.safeParse(id).data ?? null;
}

/** Reads the version from the header, else the query; without both it is 0.3. Ignores the patch. */
function isVersionSupported(incoming: IncomingMessage): boolean {
  const sent = incoming.headersDistinct['a2a-version'];
  const [, search] = splitUrl(incoming);
  const [version, ...more] = sent ?? new URLSearchParams(search).getAll('A2A-Version');
  return more.length === 0 && /^1\.0(\.\d+)?$/.test(version ?? '');
}

const MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params']);

function readEnvelope(received: JsonObject | undefined): { method: string; params: unknown } {
  const { jsonrpc, method, params } = received ?? {};
  const whole =
    received &&
    jsonrpc === '2.0' &&
    idOf(received) !== null &&
    typeof method === 'string' &&
    Object.keys(received).every((name) => MEMBERS.has(name));
  if (!whole) throw new A2aFault('INVALID_REQUEST');
  return { method, params };
}

/** Returns the handler of a method. Refuses one that is unknown or that the service does not support. */
function findMethod(method: string): Method {
  const unsupported = UNSUPPORTED_METHODS.get(method);
  if (unsupported) throw new A2aFault(unsupported);
  const handler = methods.get(method);
  if (!handler) throw new A2aFault('METHOD_NOT_FOUND');
  return handler;
}

async function dispatch(
  deps: SendDeps,
  method: string,
  params: unknown,
  caller: MessageSender,
): Promise<unknown> {
  const handler = findMethod(method);
  if (
    params !== undefined &&
    (typeof params !== 'object' || params === null || Array.isArray(params))
  )
    throw new A2aFault('INVALID_PARAMS', 'params must be an object.');
  return handler(deps, (params ?? {}) as Record<string, unknown>, caller);
}
