import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './api.ts';

/** How long a caller repeats a request that got no answer, or 503. */
const PATIENCE_MS = 60_000;

/** Repeats a request without an answer, or with 503, as a client with the same key does. */
export function patient(api: Api): Api {
  return {
    async call(method, path, options) {
      for (const end = Date.now() + PATIENCE_MS; ; ) {
        const answer = await api.call(method, path, options).catch(() => undefined);
        if (answer && (answer.status !== 503 || Date.now() > end)) return answer;
        if (Date.now() > end) throw new Error(`${method} ${path}: no answer`);
        await sleep(100 + Math.random() * 400);
      }
    },
  };
}
