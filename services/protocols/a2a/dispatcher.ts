import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { type RpcId, rpcFailure, rpcSuccess } from '../../../platform/http/json-rpc.ts';
import type { Authenticators } from '../../../platform/http/principal.ts';
import { problemFrom } from '../../../platform/http/problems.ts';
import {
  CallerGone,
  checkHeaders,
  checkMedia,
  checkOrigin,
  readBody,
  splitUrl,
} from '../../../platform/http/read-request.ts';
import type { AnyReply, RequestContext, Route } from '../../../platform/http/route.ts';
import { type JsonObject, parseStrictJson } from '../../../platform/http/strict-json.ts';
import { toProblem } from '../../../platform/http/to-problem.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { CallId } from './contract.ts';
import { A2aFault, faultReply } from './fault.ts';
import { methods } from './methods.ts';
import type { MessageSender, SendDeps } from './send-message.ts';

export interface DispatcherDeps extends SendDeps {
  bearer: Authenticators['bearer'];
  baseUrl: string;
  logger: Logger;
}

/**
 * Serves A2A 1.0 over JSON-RPC, strictly. Answers with the first failed check of: headers, origin,
 * media type, size, bearer, JSON, version, envelope, method, parameters.
 */
export function dispatcher(deps: DispatcherDeps) {
  return async (
    route: Route,
    request: RequestContext & { incoming: IncomingMessage },
  ): Promise<AnyReply> => {
    let id: RpcId = null;
    try {
      const { incoming } = request;
      checkEdge(incoming, route, deps.baseUrl);
      const principal = await authenticate(deps.bearer, incoming);
      const received = readRequest(await readBody(incoming, route));
      id = received ? idOf(received) : null;
      checkVersion(incoming);
      const { method, params } = readEnvelope(received);
      const caller = { principal, request, headers: {} };
      const result = await dispatch(deps, method, params, caller);
      return { ...rpcSuccess(id, result), headers: caller.headers };
    } catch (error) {
      if (error instanceof A2aFault) return rpcFailure(200, id, error.rpc);
      if (error instanceof CallerGone) throw error;
      return faultReply(id, toProblem(deps.logger, error, request.id), request.id);
    }
  };
}

function checkEdge(incoming: IncomingMessage, route: Route, baseUrl: string): void {
  checkHeaders(incoming, route);
  checkOrigin(incoming, route, baseUrl);
  checkMedia(incoming, route);
}

async function authenticate(
  bearer: Authenticators['bearer'],
  incoming: IncomingMessage,
): Promise<MessageSender['principal']> {
  const { authorization } = incoming.headers;
  const principal = await bearer({ authorization, cookie: undefined });
  if (isRefusal(principal)) throw problemFrom(principal);
  return principal;
}

/** Undefined for a batch or a bare value, which are valid JSON but not a call. */
function readRequest(bytes: Buffer): JsonObject | undefined {
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (isOtherJson(bytes)) return undefined;
    throw error;
  }
}

function isOtherJson(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value !== 'object' || value === null || Array.isArray(value);
  } catch {
    return false;
  }
}

function idOf({ id }: JsonObject): RpcId {
  return CallId.safeParse(id).data ?? null;
}

/** Reads the version from the header, else the query; without both it is 0.3. Ignores the patch. */
function checkVersion(incoming: IncomingMessage): void {
  const sent = incoming.headersDistinct['a2a-version'];
  const [, search] = splitUrl(incoming);
  const [version, ...more] = sent ?? new URLSearchParams(search).getAll('A2A-Version');
  if (more.length > 0 || !/^1\.0(\.\d+)?$/.test(version ?? ''))
    throw new A2aFault('VERSION_NOT_SUPPORTED');
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

async function dispatch(
  deps: SendDeps,
  method: string,
  params: unknown,
  caller: MessageSender,
): Promise<unknown> {
  const handler = methods.get(method);
  if (!handler) throw new A2aFault('METHOD_NOT_FOUND');
  if (
    params !== undefined &&
    (typeof params !== 'object' || params === null || Array.isArray(params))
  )
    throw new A2aFault('INVALID_PARAMS', 'params must be an object.');
  return handler(deps, (params ?? {}) as Record<string, unknown>, caller);
}
