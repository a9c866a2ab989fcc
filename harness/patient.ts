import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ApiResponse } from './api.ts';

/** How long a caller repeats a request that got no answer, or 503. */
const PATIENCE_MS = 300_000;
/** Pauses double up to the longest: a crowd that repeats sooner keeps a slow service busy with what it refuses. */
const PAUSES_MS = { first: 200, longest: 5000 };

/** Repeats a request without an answer, or with 503, as a client with the same key does. */
export function patient(api: Api): Api {
  return {
    async call(method, path, options) {
      const end = Date.now() + PATIENCE_MS;
      for (let pause = PAUSES_MS.first; ; pause = Math.min(2 * pause, PAUSES_MS.longest)) {
        const answer = await api.call(method, path, options).catch(unlessLost);
        if (answer && (answer.status !== 503 || Date.now() > end)) return answer;
        if (Date.now() > end) throw new Error(`${method} ${path}: no answer`);
        await sleep(pause * (0.5 + Math.random()));
      }
    },
  };
}

/** What `fetch` throws where a connection ends; any other error, as of a check, is the caller's. */
function unlessLost(error: unknown): ApiResponse | undefined {
  if (error instanceof TypeError) return undefined;
  throw error;
}
