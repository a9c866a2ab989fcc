import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { readConfig } from '../../platform/config.ts';
import { createCore } from '../../services/compose.ts';
import { testDatabase } from '../support/database.ts';

/** The address of a server that takes the first connection and never answers it, and passes on the others. */
async function slowAtFirst(url: string) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let taken = 0;
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    taken += 1;
    if (taken === 1) return;
    const upstream = connect(Number(port), hostname).on('error', () => undefined);
    sockets.add(upstream);
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = new URL(url);
  address.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: address.href, taken: () => taken };
}

const start = (url: string) =>
  createCore(
    readConfig({
      DATABASE_URL: url,
      SERVER_KEYS: `1:${'ab'.repeat(32)}`,
      BASE_URL: 'http://localhost',
    }),
    'service test',
  );

t.test('a process starts although its first connection takes too long', async (t) => {
  const { url } = await testDatabase(t);
  const server = await slowAtFirst(url);
  const core = await start(server.url);
  await core.close();
  t.ok(server.taken() > 1, `${server.taken()} connections`);
});

t.test('a process does not start where no server listens', async (t) => {
  await t.rejects(start('postgres://127.0.0.1:1/none'), { code: 'ECONNREFUSED' });
});
