import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { endWithin } from './graceful-close.ts';
import { Problem, problemReply } from './problems.ts';
import { breakBody } from './read-request.ts';
import { commonHeaders } from './respond.ts';

const latest = new WeakMap<object, ServerResponse>();

/** The newest answer of a connection, under way or done. */
export const latestOn = (socket: object): ServerResponse | undefined => latest.get(socket);

/** For how long a connection may carry nothing while it should: more than any answer waits or pings. */
const SILENCE_MS = 60_000;

type Fault = NodeJS.ErrnoException & { reason?: string };

/**
 * Node's server within the contract's bounds: headers in 10 s, the whole request in 20 s. What breaks
 * before there is a request is answered in the error model too; `secure` as in `commonHeaders`.
 */
export function openServer(
  listener: RequestListener,
  secure = false,
  silenceMs = SILENCE_MS,
): Server {
  const server = createServer({
    // With the address, for which as much again is left: the headers are counted per request.
    maxHeaderSize: 16_384,
    headersTimeout: 10_000,
    requestTimeout: 20_000,
    connectionsCheckingInterval: 1000,
    // Node's own refusal has no body; the edge has one.
    requireHostHeader: false,
  });
  // Node drops what is beyond its own count without a word; the count is checked per request.
  server.maxHeadersCount = 0;
  // Who takes no more of an answer would hold its connection without an end.
  server.timeout = silenceMs;
  function begin(req: IncomingMessage, res: ServerResponse): void {
    latest.set(req.socket, res);
    listener(req, res);
  }
  server.on('request', begin);
  // An expectation that nobody knows is let be, as HTTP allows: Node's own refusal has no body.
  server.on('checkExpectation', begin);
  // No path takes it, as the edge says.
  server.on('connect', (req: IncomingMessage, socket: Socket) => {
    // Node has let go of it, and nobody else hears when it breaks.
    socket.on('error', () => socket.destroy());
    const before = latestOn(socket);
    if (before && !before.closed) before.once('close', () => refuse(req, socket));
    else refuse(req, socket);
  });
  function refuse(req: IncomingMessage, socket: Socket): void {
    if (socket.destroyed) return;
    const res = new ServerResponse(req);
    res.assignSocket(socket);
    res.once('finish', () => socket.destroySoon());
    listener(req, res);
  }
  server.on('clientError', (error: Fault, socket) => {
    const res = latestOn(socket);
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else if (res && !res.writableFinished) endAfter(res, socket as Socket, problemOf(error));
    // The rest of a body whose request was answered before it came.
    else if (res && !res.req.complete) (socket as Socket).destroySoon();
    else refuseConnection(socket as Socket, problemOf(error), secure);
  });
  return server;
}

/** What was asked whole is answered, since it may be done by now; one cut short is refused. */
function endAfter(res: ServerResponse, socket: Socket, problem: Problem): void {
  if (!res.headersSent) res.setHeader('connection', 'close');
  res.once('close', () => socket.destroySoon());
  if (!res.req.complete) breakBody(res.req, problem);
}

function problemOf({ code, reason }: Fault): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout');
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('headers_too_large');
  return new Problem('invalid_request', {
    issues: [{ path: '', message: `not HTTP/1.1: ${reason ?? code}` }],
  });
}

function refuseConnection(socket: Socket, { code, details }: Problem, secure: boolean): void {
  const id = randomUUID();
  const { status, body } = problemReply(code, details, id);
  const text = JSON.stringify(body);
  const headers = {
    ...commonHeaders(id, secure),
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  endWithin(socket, `HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}`);
}
