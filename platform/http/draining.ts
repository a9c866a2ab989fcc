import type { Server, ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { latestOn } from './server.ts';

const LAST_ANSWERS_MS = 500;
const IDLE_MS = 100;
const PATIENCE_MS = 25_000;

/**
 * Returns the two steps that shut a server down. From `announce` on, every response has
 * `Connection: close`, so that clients learn of the shutdown before they lose a request. `close`
 * closes the listeners, so that no new connections come; after 500 ms it starts to close idle ones,
 * and 25 s later it destroys the rest.
 */
export function createDraining(server: Server) {
  const connections = new Set<Socket>();
  let draining = false;
  const last = (res: ServerResponse | undefined) => {
    if (res && !res.headersSent) res.setHeader('connection', 'close');
  };
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.prependListener('request', (_req, res) => {
    if (draining) last(res);
  });

  function announce(): void {
    draining = true;
    for (const socket of connections) last(latestOn(socket));
  }

  async function close(listeners: readonly Listener[] = [server]): Promise<void> {
    announce();
    // Not `server.close`, which also closes connections that are idle between two requests.
    const closed = Promise.all(
      listeners.map(
        (each) => new Promise((resolve) => Listener.prototype.close.call(each, resolve)),
      ),
    );
    await Promise.race([closed, sleep(LAST_ANSWERS_MS)]);
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS);
    const patience = setTimeout(() => server.closeAllConnections(), PATIENCE_MS);
    await closed;
    clearInterval(idle);
    clearTimeout(patience);
  }

  return { announce, close };
}
