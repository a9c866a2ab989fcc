import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ephemeral ports of common systems, so that no other test's connection or server takes
// the port before the intended process listens.
const [FIRST, LAST] = [10_000, 15_999];
/** Longest time in which the intended process listens, in milliseconds. */
const RESERVED_MS = 120_000;

/** Finds a loopback port without a listener, which no other caller gets meanwhile, in any process. */
export async function freePort(): Promise<string> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    if ((await reserve(port)) && (await isFree(port))) return String(port);
  }
}

/** Reserves a port by its number in UDP, which nothing here uses. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  const bound = await isDone(socket.bind({ port, address: '127.0.0.1', exclusive: true }));
  if (bound) setTimeout(() => socket.close(), RESERVED_MS).unref();
  return bound;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  if (!(await isDone(server))) return false;
  server.close();
  await once(server, 'close');
  return true;
}

async function isDone(listening: NodeJS.EventEmitter): Promise<boolean> {
  try {
    await once(listening, 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
