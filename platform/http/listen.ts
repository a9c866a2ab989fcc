import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as Listener } from 'node:net';

/**
 * Node accepts one connection for each listening socket and turn of its event loop. With one socket,
 * new callers of a busy process wait for seconds before it knows of them.
 */
const MAX_SOCKETS = 16;
/** Each socket has its share of the connections; the kernel spreads them well enough from here on. */
const MIN_CONNECTIONS = 500;

/** Whether sockets can share a port, with connections spread over them. */
const canSharePort =
  process.platform === 'linux' && Number(process.versions.node.split('.')[0]) >= 24;

/**
 * Listens at a port with several sockets where the system can, for at most `maxConnections` in all.
 * Returns every listener, `server` first. Rejects if the port is taken.
 */
export async function listen(
  server: Server,
  { port, host, maxConnections }: { port: number; host: string; maxConnections: number },
): Promise<Listener[]> {
  const count = canSharePort
    ? Math.min(MAX_SOCKETS, Math.max(1, Math.floor(maxConnections / MIN_CONNECTIONS)))
    : 1;
  // Sockets that share a port would also share it with another process: see that it is free.
  if (count > 1) await close(await bind(createServer(), { port, host }));
  const more = Array.from({ length: count - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit('connection', socket),
    ),
  );
  const listeners = [server, ...more];
  for (const listener of listeners) listener.maxConnections = Math.ceil(maxConnections / count);
  await bind(server, { port, host, reusePort: count > 1 });
  const same = { port: (server.address() as AddressInfo).port, host, reusePort: true };
  for (const listener of more) await bind(listener, same);
  return listeners;
}

async function bind(
  listener: Listener,
  options: { port: number; host: string; reusePort?: boolean },
): Promise<Listener> {
  listener.listen(options);
  await once(listener, 'listening');
  return listener;
}

async function close(listener: Listener): Promise<void> {
  listener.close();
  await once(listener, 'close');
}
