import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

type Ending = { teardown(end: () => Promise<void>): unknown };

/** Starts a TCP proxy in front of an HTTP service that can drop the response to one request. */
export async function startFaultProxy(t: Ending, target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let marker: string | undefined;
  let dropped = 0;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let dropping = false;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (marker !== undefined && bytes.includes(marker)) {
        marker = undefined;
        dropping = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!dropping) {
        client.write(bytes);
        return;
      }
      dropped += 1;
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Drops the response to the next request whose bytes contain `text`. */
    dropResponseTo(text: string) {
      marker = text;
    },
    droppedCount: () => dropped,
  };
}
