import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Headers } from './respond.ts';

const LINGER_MS = 2000;

/** Whether an unread body is over 64 KiB, too long to read just to keep the connection open. */
const leavesMuch = (req: IncomingMessage) =>
  !req.complete && Number(req.headers['content-length']) > 65_536;

/**
 * Returns the response headers, with `Connection: close` if they ask for it or a large body is
 * unread. Many clients send the whole body before they read: closing with unread bytes would reset
 * the connection and lose the response, so the server discards the rest of the body for up to 2 s.
 */
export function closeAfterResponse(req: IncomingMessage, headers: Headers = {}): Headers {
  if (!leavesMuch(req) && headers.connection !== 'close') return headers;
  const { socket } = req;
  const { destroySoon } = socket;
  socket.destroySoon = () => {
    if (req.complete) return destroySoon.call(socket);
    endWithin(socket);
    req.once('end', () => destroySoon.call(socket));
    req.resume();
  };
  return { ...headers, connection: 'close' };
}

/** Ends a connection after writing `last`; destroys it if the peer has not closed it within 2 s. */
export function endWithin(socket: Socket, last = ''): void {
  socket.end(last);
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
}
