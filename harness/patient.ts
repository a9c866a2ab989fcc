import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ApiResponse } from './api.ts';

/** How long a caller repeats a request that got no answer, or 503. */
const PATIENCE_MS = 60_000;

/** Repeats a request without an answer, or with 503, as a client with the same key does. */
export function patient(api: Api): Api {
  return {
    async call(method, path, options) {
      for (const end = Date.now() + PATIENCE_MS; ; ) {
        const answer = await api.call(method, path, options).catch(unlessLost);
        if (answer && (answer.status !== 503 || Date.now() > end)) return answer;
        if (Date.now() > end) throw new Error(`${method} ${path}: no answer`);
        await sleep(100 + Math.random() * 400);
      }
    },
  };
}

/** What `fetch` throws where a connection ends; any other error, as of a check, is the caller's. */
function unlessLost(error: unknown): ApiResponse | undefined {
  if (error instanceof TypeError) return undefined;
  throw error;
}
