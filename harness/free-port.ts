import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ephemeral ports of common systems, so that no other test's connection or server takes
// the port before the intended process listens.
const [FIRST, LAST] = [10_000, 15_999];

/** Finds a loopback port without a listener. */
export async function freePort(): Promise<string> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return String(port);
  }
}
