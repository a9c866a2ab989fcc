import type { IncomingMessage } from 'node:http';
import { toWebRequest } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { type RpcId, rpcFailure } from '../../../platform/http/json-rpc.ts';
import { Problem, problemReply } from '../../../platform/http/problems.ts';
import {
  CallerGone,
  checkHeaders,
  checkMedia,
  readBody,
  valuesLimit,
} from '../../../platform/http/read-request.ts';
import type { AnyReply, RequestContext, Route } from '../../../platform/http/route.ts';
import {
  isJsonObject,
  type JsonObject,
  parseStrictJson,
  parseStrictValue,
} from '../../../platform/http/strict-json.ts';
import { toProblem } from '../../../platform/http/to-problem.ts';
import type { RouteLimits } from '../../../platform/limits/route-limits.ts';
import { MCP_REQUESTS, type mcpContract } from './contract.ts';
import { paramsFault } from './params.ts';
import { sourceCheck } from './source.ts';

interface EndpointDeps {
  config: { baseUrl: string };
  limits: RouteLimits;
  logger: Logger;
}

export type McpRoute = (typeof mcpContract)['mcp.call'];
type Facts = RequestContext & { incoming: IncomingMessage };

/** Serves both protocol revisions on one address. A request gets a new server and a JSON reply. */
export function endpoint(deps: EndpointDeps, serverFor: (request: RequestContext) => McpServer) {
  const checkSource = sourceCheck(deps.config.baseUrl);

  return async (route: McpRoute, request: Facts): Promise<AnyReply> => {
    const { incoming } = request;
    let id: RpcId | undefined;
    let limits: Record<string, string> = {};
    const limited = (reply: AnyReply): AnyReply => ({
      ...reply,
      headers: { ...limits, ...reply.headers },
    });
    try {
      checkHeaders(incoming, route, { anonymous: true });
      checkSource(incoming);
      checkMedia(incoming, route);
      const { counted, headers, details } = await deps.limits.take({ route, request }, [
        MCP_REQUESTS,
      ]);
      limits = headers;
      if (!counted) throw new Problem('rate_limited', details);
      const message = readMessage(await readBody(incoming, route), route);
      id =
        typeof message.id === 'string' || typeof message.id === 'number' ? message.id : undefined;
      // A subscription would hold a stream open, but nothing that it could report ever changes.
      if (message.method === 'subscriptions/listen')
        return limited(rpcFailure(404, id, { code: -32601, message: 'Method not found' }));
      const answered = await serve(incoming, route.path, message, () => serverFor(request));
      // The SDK's checks of headers and revision take precedence.
      const fault = answered.response.status === 200 ? paramsFault(message) : undefined;
      const invalid = { code: -32602, message: `Invalid params: ${fault}` };
      return limited(fault ? rpcFailure(200, id, invalid) : replyOf(answered));
    } catch (error) {
      if (error instanceof CallerGone) throw error;
      const { code, details, headers } = toProblem(deps.logger, error, request.id);
      const reply = problemReply(code, details, request.id);
      const rpc = { code: RPC[code] ?? -32603, ...said(reply.body.error) };
      return limited(rpcFailure(reply.status, id, rpc, { ...reply.headers, ...headers }));
    }
  };
}

/** A host shows no headers to a model, so the message says how long to wait. */
function said({ message, retry_after: wait, ...details }: Record<string, unknown>) {
  if (typeof wait !== 'number') return { message: String(message) };
  const { limit, resets_at } = details;
  return {
    message: `Too many requests from this address. Try again in ${wait} seconds.`,
    data: {
      retry_after: wait,
      ...(limit === undefined ? {} : { limit }),
      ...(resets_at === undefined ? {} : { resets_at }),
    },
  };
}

const RPC: Readonly<Record<string, number>> = {
  invalid_json: -32700,
  invalid_request: -32600,
  body_too_large: -32600,
  unsupported_media_type: -32600,
  origin_not_allowed: -32600,
  fetch_site_not_allowed: -32600,
  rate_limited: -32600,
};

function readMessage(bytes: Buffer, route: Route): JsonObject {
  const message = parseStrictValue(bytes, valuesLimit(route));
  if (isJsonObject(message)) return message;
  const details = Array.isArray(message) ? { message: 'Batch requests are not supported.' } : {};
  throw new Problem(Array.isArray(message) ? 'invalid_request' : 'invalid_json', details);
}

async function serve(
  incoming: IncomingMessage,
  url: string,
  message: unknown,
  server: () => McpServer,
) {
  const { authorization: _, cookie: __, ...headers } = incoming.headers;
  // Every reply is JSON, regardless of what else the client accepts.
  const accept = 'application/json, text/event-stream';
  const read = {
    method: 'POST',
    url,
    headers: { ...headers, accept, host: 'localhost' },
    async *[Symbol.asyncIterator]() {},
  };
  const request = await toWebRequest(read, message);
  if (await isLegacyRequest(request, message)) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const legacy = server();
    await legacy.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: message });
    const answered = await buffered(response);
    await legacy.close();
    return answered;
  }
  const modern = createMcpHandler(server, { legacy: 'reject' });
  const answered = await buffered(await modern.fetch(request, { parsedBody: message }));
  await modern.close();
  return answered;
}

async function buffered(response: Response) {
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

function replyOf({ response, bytes }: Awaited<ReturnType<typeof buffered>>): AnyReply {
  // The SDK sends an id of null, which the protocol does not have, where it refuses the headers.
  if (response.status >= 400 && bytes.length > 0) {
    const { id, ...refused } = parseStrictJson(bytes);
    return { status: response.status, body: id === null ? refused : { ...refused, id } };
  }
  const type = bytes.length > 0 ? 'application/json; charset=utf-8' : '';
  return { status: response.status, content: { type, bytes } };
}
