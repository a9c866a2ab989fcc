import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Headers } from './respond.ts';

const LINGER_MS = 2000;

/** A body that nobody read, too long to be worth reading for the connection's sake. */
const leavesMuch = (req: IncomingMessage) =>
  !req.complete && Number(req.headers['content-length']) > 65_536;

/**
 * The headers of an answer, after which the connection is closed where they say so or much is left.
 * Many callers send all of a body before they read: bytes that nobody took would break the connection,
 * and the answer with it, so they are taken for a while.
 */
export function closing(req: IncomingMessage, headers: Headers = {}): Headers {
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

/** Ends a connection: a caller who does not end it as well has it for a while more and no longer. */
export function endWithin(socket: Socket, last = ''): void {
  socket.end(last);
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
}
