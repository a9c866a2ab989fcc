import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { LogWatch } from '../eventstore/log-watch.ts';
import { pendingMigrations } from '../postgres/migrate.ts';
import { query } from '../postgres/query.ts';
import { named } from '../sql.ts';

export type Readiness = ReturnType<typeof watchReadiness>;

const SAMPLE_MS = 5000;
/** How long a probe waits for a new sample before it gets the last one, in milliseconds. */
const PROMPT_MS = 100;

/** Resolves with the result of `sampling`, or with undefined after 100 ms: orchestrators wait about a second for a probe. */
export const promptly = <Sample>(sampling: Promise<Sample>): Promise<Sample | undefined> =>
  Promise.race([sampling, sleep(PROMPT_MS, undefined, { ref: false })]);

export type ReadinessState = 'ready' | 'unavailable' | 'outdated' | 'lost' | 'draining';

/**
 * Watches whether this process can serve: the database is reachable and fully migrated, and it is
 * not about to stop; and whether writes that it acknowledged are missing. A read replica does not
 * matter, since reads fall back to the primary. `check` returns a new result, or under load the
 * last one; `sampled` returns the last result, which a timer refreshes every 5 s, so that status requests query nothing.
 */
export function watchReadiness(pool: pg.Pool, log: Pick<LogWatch, 'check' | 'isLost'>) {
  let last: ReadinessState = 'ready';
  let wasReady = false;
  let draining = false;
  let sampledAt = Number.NEGATIVE_INFINITY;
  let sampling: Promise<ReadinessState> | undefined;

  async function check(): Promise<ReadinessState> {
    try {
      const pending = await pendingMigrations(async (text) => ({
        rows: await query(pool, named(text)),
      }));
      await log.check(pool);
      last = pending.length > 0 ? 'outdated' : log.isLost() ? 'lost' : 'ready';
    } catch {
      last = 'unavailable';
    }
    wasReady ||= last === 'ready';
    sampledAt = performance.now();
    return draining ? 'draining' : last;
  }

  /** A new sample if it comes promptly, else the last one unless that is too old. */
  async function recent(): Promise<ReadinessState> {
    sampling ??= check().finally(() => {
      sampling = undefined;
    });
    if (performance.now() - sampledAt > 2 * SAMPLE_MS) return sampling;
    return (await promptly(sampling)) ?? (draining ? 'draining' : last);
  }

  /**
   * Whether a proxy should send requests here. While a database is down that this process has
   * reached before, its neighbours can do no better, and its own 503 says more than the proxy's.
   * Queries nothing after the first success, since proxies wait about a second for the answer.
   */
  async function acceptsTraffic(): Promise<boolean> {
    if (!wasReady) await check();
    return wasReady && last !== 'outdated' && !log.isLost() && !draining;
  }

  const timer = setInterval(() => void check(), SAMPLE_MS).unref();
  return {
    check: recent,
    acceptsTraffic,
    /** Whether the database was usable when it was last queried. */
    sampled: () => last === 'ready',
    /** From now on, this process is not ready. */
    drain() {
      draining = true;
    },
    stop: () => clearInterval(timer),
  };
}
