import autocannon, { type Request } from 'autocannon';
import type { Contender } from './pair.ts';

/** `width` loops, each beginning the next piece of work when the last is done. */
export function loops(width: number, work: () => Promise<unknown>): Contender {
  return {
    async run(seconds) {
      const started = performance.now();
      const end = started + seconds * 1000;
      let done = 0;
      const loop = async () => {
        while (performance.now() < end) {
          await work();
          done++;
        }
      };
      await Promise.all(Array.from({ length: width }, loop));
      return (done * 1000) / (performance.now() - started);
    },
  };
}

/** Requests over `connections` kept alive; an answer outside 2xx ends the bench. */
export function requests(
  url: string,
  connections: number,
  request: Request & { method: 'GET' | 'POST' },
): Contender {
  return {
    async run(seconds) {
      const started = performance.now();
      const result = await autocannon({ url, connections, duration: seconds, requests: [request] });
      const bad = result.non2xx + result.errors + result.timeouts;
      if (bad > 0 || result['2xx'] === 0)
        throw new Error(`${request.method} ${url}: ${result['2xx']} answered well, ${bad} did not`);
      return (result['2xx'] * 1000) / (performance.now() - started);
    },
  };
}
