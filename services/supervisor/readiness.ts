import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

// Resolves once the process answers 200; rejects when the signal aborts.
export async function untilReady(host: string, port: number, abort: AbortSignal): Promise<void> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  while ((await status(reachable, port)) !== 200) await sleep(50, undefined, { signal: abort });
  abort.throwIfAborted();
}

function status(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get(
      { host, port, path: '/readyz', agent: false, timeout: 2000 },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}
