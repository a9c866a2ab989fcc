import type { Server, ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { latestOn } from './server.ts';

const LAST_ANSWERS_MS = 500;
const IDLE_MS = 100;
const PATIENCE_MS = 25_000;

/**
 * What ends a server: nobody new is let in, and each answer says that its connection ends with it, so
 * that whoever goes on asking learns it before a request is lost. Only then is what is idle closed;
 * what takes longer than the patience is cut.
 */
export function openDraining(server: Server): () => Promise<void> {
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

  return async () => {
    draining = true;
    for (const socket of connections) last(latestOn(socket));
    // Not the server's own `close`, which cuts what is idle at once, as it is between two requests.
    const closed = new Promise((resolve) => Listener.prototype.close.call(server, resolve));
    await Promise.race([closed, sleep(LAST_ANSWERS_MS)]);
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS);
    const patience = setTimeout(() => server.closeAllConnections(), PATIENCE_MS);
    await closed;
    clearInterval(idle);
    clearTimeout(patience);
  };
}
