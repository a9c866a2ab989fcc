import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from '../harness/traffic-operation.ts';

export type Counts = Record<'done' | 'refused' | 'failed', number>;

/** Sends one random operation after the other until a time, counts the answers, and adds those that are failures. */
export async function callSteadily(
  operations: readonly Operation[],
  running: { until: number; pauseMs: number },
  counts: Counts,
  failures: Set<string>,
): Promise<void> {
  while (Date.now() < running.until) {
    const { name, prepare } = operations[
      Math.floor(Math.random() * operations.length)
    ] as Operation;
    try {
      const { status, text } = await (await prepare())();
      const outcome = outcomeOf(status);
      counts[outcome]++;
      if (outcome === 'failed') failures.add(`${name}: ${status} ${text}`);
    } catch {
      // A prerequisite was refused, as may happen with concurrent callers.
      counts.refused++;
    }
    await sleep(running.pauseMs);
  }
}

/** With 503, a busy service, or one whose database is slow, asks a caller to come again. */
function outcomeOf(status: number): keyof Counts {
  if (status < 400) return 'done';
  return status < 500 || status === 503 ? 'refused' : 'failed';
}
