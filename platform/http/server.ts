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
import { breakBody, continueWhenRead } from './read-request.ts';
import { commonHeaders } from './respond.ts';

const latest = new WeakMap<object, ServerResponse>();

/** The newest response on a connection, in progress or finished. */
export const latestOn = (socket: object): ServerResponse | undefined => latest.get(socket);

/**
 * How long an idle connection stays open: longer than proxies keep theirs (60 to 90 s), so that none sends a request
 * on a connection that is just being closed.
 */
const KEEP_ALIVE_MS = 95_000;

/** Socket inactivity timeout during a request; longer than any response waits or pauses between pings. */
const SILENCE_MS = 60_000;

type Fault = NodeJS.ErrnoException & { reason?: string };

/**
 * Creates a Node server with the limits of the contract: 10 s for the headers, 20 s for the whole
 * request. What fails before a request exists gets a problem response as well. `secure` adds HSTS;
 * `silenceMs` is the socket inactivity timeout.
 */
export function createHttpServer(
  listener: RequestListener,
  secure = false,
  silenceMs = SILENCE_MS,
): Server {
  const server = createServer({
    // Includes the URL, for which as much again is left: `checkHeaderSize` limits the headers.
    maxHeaderSize: 16_384,
    headersTimeout: 10_000,
    requestTimeout: 20_000,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node's own refusal has no body; `checkHeaders` sends one.
    requireHostHeader: false,
  });
  // Node silently drops headers beyond its own limit; `checkHeaderSize` checks the count instead.
  server.maxHeadersCount = 0;
  // A client that stops reading a response must not hold its connection indefinitely.
  server.timeout = silenceMs;
  function begin(req: IncomingMessage, res: ServerResponse): void {
    latest.set(req.socket, res);
    listener(req, res);
  }
  server.on('request', begin);
  server.on('checkContinue', (req, res) => {
    continueWhenRead(req, res);
    begin(req, res);
  });
  // Ignores an unknown `Expect`, as HTTP allows; the refusal that Node would send has no body.
  server.on('checkExpectation', begin);
  // No route accepts CONNECT; the listener sends the refusal.
  server.on('connect', (req: IncomingMessage, socket: Socket) => {
    // Node has released the socket and no longer handles its errors.
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
    // The error is in the rest of a body whose request already has its response.
    else if (res && !res.req.complete) (socket as Socket).destroySoon();
    else refuseConnection(socket as Socket, problemOf(error), secure);
  });
  return server;
}

/**
 * Ends the connection after the current response. A complete request gets its response, because it
 * may have taken effect; an incomplete one is refused.
 */
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
