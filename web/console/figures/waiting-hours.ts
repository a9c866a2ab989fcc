import type { Stats } from '../words/api-model.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** The service keeps the counts for so many days. */
const MAX_DAYS = 14;

/** An hour of the queue; `waiting` is null if no worker counted then. */
export interface WaitingHour {
  at: number;
  waiting: number | null;
  oldestSeconds: number | null;
}

/**
 * The hours of the last days up to now, those without a count included. Begins with the first count, but has at
 * least one day, so that a new service has no gaps before it was set up. Empty without a count.
 */
export function toWaitingHours(
  counted: Stats['waiting_by_hour'],
  days: number,
  now: number,
): WaitingHour[] {
  const byHour = new Map(counted.map((row) => [Date.parse(row.hour), row]));
  const current = Math.floor(now / HOUR_MS) * HOUR_MS;
  // The worker may not have counted yet in this hour.
  const last = byHour.has(current) ? current : current - HOUR_MS;
  const longest = last - (Math.min(days, MAX_DAYS) * DAY_HOURS - 1) * HOUR_MS;
  const measured = [...byHour.keys()].filter((at) => at >= longest && at <= last);
  if (measured.length === 0) return [];
  const shortest = last - (DAY_HOURS - 1) * HOUR_MS;
  const first = Math.max(longest, Math.min(shortest, ...measured));
  return Array.from({ length: (last - first) / HOUR_MS + 1 }, (_, index) => {
    const at = first + index * HOUR_MS;
    const row = byHour.get(at);
    return { at, waiting: row?.waiting ?? null, oldestSeconds: row?.oldest_age_seconds ?? null };
  });
}

/** The hours after the first count of which none was made. */
export function countMissing(hours: readonly WaitingHour[]): number {
  const first = hours.findIndex(({ waiting }) => waiting !== null);
  return hours.slice(first).filter(({ waiting }) => waiting === null).length;
}

/** The hours with a count, in runs without a gap: each is a line. */
export function toRuns(hours: readonly WaitingHour[]): { index: number; waiting: number }[][] {
  const runs: { index: number; waiting: number }[][] = [];
  for (const [index, { waiting }] of hours.entries()) {
    if (waiting === null) continue;
    if (index === 0 || hours[index - 1]?.waiting === null || runs.length === 0) runs.push([]);
    runs.at(-1)?.push({ index, waiting });
  }
  return runs;
}
