import autocannon, { type Request } from 'autocannon';
import type { Contender } from './pair.ts';

/** Runs `width` concurrent loops; each starts `work` again when the previous call is done. */
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

/** Calls `work` `count` times, `width` at a time. */
export async function times(
  width: number,
  count: number,
  work: () => Promise<unknown>,
): Promise<void> {
  let left = count;
  const loop = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: width }, loop));
}

/** Longest wait for a first response, in turns; then the benchmark fails. */
const TURNS = 10;

/**
 * Sends requests over `connections` keep-alive connections; fails on a response but 2xx, except for
 * a few 503.
 */
export function requests(
  url: string,
  connections: number,
  request: Request & { method: 'GET' | 'POST' },
): Contender {
  return {
    async run(seconds) {
      const started = performance.now();
      let good = 0;
      let bad = 0;
      for (let turn = 0; turn < TURNS && good + bad === 0; turn++) {
        const result = await autocannon({
          url,
          connections,
          duration: seconds,
          requests: [request],
        });
        good = result['2xx'];
        // A process refuses requests while it still works on those of the turn before.
        const refused = result.statusCodeStats?.['503']?.count ?? 0;
        const tolerated = refused < good / 10 ? refused : 0;
        bad = result.non2xx - tolerated + result.errors + result.timeouts;
      }
      if (bad > 0 || good === 0)
        throw new Error(`${request.method} ${url}: ${good} answered well, ${bad} did not`);
      return (good * 1000) / (performance.now() - started);
    },
  };
}
