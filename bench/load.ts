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

/** Longest wait for answers, in turns; then the benchmark fails. */
const TURNS = 10;

/**
 * Sends requests over `connections` keep-alive connections. A turn without an answer, or of which more than a few were
 * refused with 503, is repeated: something else used the machine. Fails on any other response but 2xx.
 */
export function requests(
  url: string,
  connections: number,
  request: Request & { method: 'GET' | 'POST' },
): Contender {
  return {
    async run(seconds) {
      const started = performance.now();
      let [good, bad, refused] = [0, 0, 0];
      const isOver = () => bad > 0 || (good > 0 && refused <= good / 10);
      for (let turn = 0; turn < TURNS && !isOver(); turn++) {
        const result = await autocannon({
          url,
          connections,
          duration: seconds,
          requests: [request],
        });
        good += result['2xx'];
        refused = result.statusCodeStats?.['503']?.count ?? 0;
        bad = result.non2xx - refused + result.errors + result.timeouts;
      }
      if (!isOver() || bad > 0)
        throw new Error(
          `${request.method} ${url}: ${good} answered well, ${refused} refused with 503, ${bad} failed`,
        );
      return (good * 1000) / (performance.now() - started);
    },
  };
}
