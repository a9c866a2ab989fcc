import type pg from 'pg';
import { query } from '../../../platform/postgres/query.ts';
import { withDeadline } from '../../../platform/postgres/request-deadline.ts';
import { usualAge } from '../../../projections/moderation/moderation-weeks.ts';

/** With fewer decisions in four weeks, nothing is said. */
const MIN_DECISIONS = 20;
/** How long the words are kept: what they say changes once a week. */
const KEPT_MS = 600_000;

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** So many seconds in words, rounded up: 'within an hour', 'within 3 hours', 'within 2 days'. */
export function withinWords(seconds: number): string {
  const days = Math.ceil(seconds / DAY_SECONDS);
  if (days > 1) return `within ${days} days`;
  const hours = Math.max(1, Math.ceil(seconds / HOUR_SECONDS));
  if (hours === 24) return 'within a day';
  return hours === 1 ? 'within an hour' : `within ${hours} hours`;
}

/** Ages are counted by their first two digits, rounded down; this is the longest with the same digits. */
const longestOf = (age: number): number => age + 10 ** Math.max(0, String(age).length - 2) - 1;

interface Options {
  config: { undoWindowSeconds: number };
  readPool: pg.Pool;
  keptMs?: number;
}

/**
 * Says how long moderators usually take for a note, by three quarters of the decisions of the last four published weeks;
 * undefined after too few. Views within ten minutes share one read, and what was read last outlasts a failure.
 */
export function createUsualWait({ config, readPool, keptMs = KEPT_MS }: Options) {
  let last: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const [row] = await query(readPool, usualAge(config.undoWindowSeconds));
    const enough = row && row.age !== null && row.decisions >= MIN_DECISIONS;
    last = enough ? withinWords(longestOf(row.age ?? 0)) : undefined;
    readAt = performance.now();
  }

  return async (): Promise<string | undefined> => {
    if (performance.now() - readAt >= keptMs)
      // It belongs to no single request, whose caller may leave.
      reading ??= withDeadline(read)
        .catch(() => undefined)
        .finally(() => {
          reading = undefined;
        });
    await reading;
    return last;
  };
}
