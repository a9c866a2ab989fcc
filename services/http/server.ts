import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type ProblemCode, problemReply } from './problems.ts';
import { commonHeaders } from './respond.ts';

/**
 * Node's server within the contract's bounds: headers in 10 s and 8 KiB, the whole request in 20 s.
 * What breaks before there is a request is answered in the error model too.
 */
export function openServer(listener: RequestListener): Server {
  const server = createServer(
    {
      maxHeaderSize: 8192,
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      connectionsCheckingInterval: 1000,
      // Node's own refusal has no body; the edge has one.
      requireHostHeader: false,
    },
    listener,
  );
  // Node drops what is beyond its own count without a word; the count is checked per request.
  server.maxHeadersCount = 0;
  // An expectation that nobody knows is let be, as HTTP allows: Node's own refusal has no body.
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuseConnection(error.code, socket as Socket);
  });
  return server;
}

function refuseConnection(code: string | undefined, socket: Socket): void {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const problem: ProblemCode =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'request_timeout'
      : code === 'HPE_HEADER_OVERFLOW'
        ? 'headers_too_large'
        : 'invalid_request';
  const id = randomUUID();
  const { status, body } = problemReply(problem, {}, id);
  const text = JSON.stringify(body);
  const headers = {
    ...commonHeaders(id, false),
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}`);
}
