import type { Reads } from '../../platform/postgres/reads.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import { sql } from '../../platform/sql.ts';

/** A moment that a caller asks for: a time, or the position of the last event that counts. */
export type PastMoment = { time: Date } | { position: number };

/** A moment of the log. */
export interface Moment {
  /** The position of the last event that can count. */
  position: number;
  /** The time after which no event counts; null if the position alone says it. */
  until: string | null;
  /** What the clock shows: ISO 8601 in UTC. */
  at: string;
}

const refuseMoment = (message: string): Refusal<'invalid_request'> =>
  refuse('invalid_request', { issues: [{ path: 'as_of', message }] });

export const tooManyEvents = (most: number): Refusal<'invalid_request'> =>
  refuseMoment(
    `needs more than ${most.toLocaleString('en')} events of the log, the most that are read`,
  );

const BEFORE_FIRST = 'is before the first event of the log';

/** Finds the moment in the log, or refuses one that has no answer. */
export async function findMoment(
  find: Reads['query'],
  asked: PastMoment,
): Promise<Moment | Refusal<'invalid_request'>> {
  if ('time' in asked) {
    const [found] = await find(
      sql<{ now: Date; first: Date | null }>`SELECT clock_timestamp() AS now,
        (SELECT recorded_at FROM events ORDER BY position LIMIT 1) AS first`,
    );
    const { time } = asked;
    if (!found || time > found.now) return refuseMoment('must not be in the future');
    if (!found.first || time < found.first) return refuseMoment(BEFORE_FIRST);
    const at = time.toISOString();
    return { position: Number.MAX_SAFE_INTEGER, until: at, at };
  }
  const { position } = asked;
  const [found] = await find(
    sql<{ at: Date | null; last: number | null }>`SELECT
        (SELECT recorded_at FROM events WHERE position <= ${position} ORDER BY position DESC LIMIT 1) AS at,
        (SELECT position FROM events ORDER BY position DESC LIMIT 1) AS last`,
  );
  if (position > (found?.last ?? 0)) return refuseMoment('is beyond the end of the log');
  return found?.at
    ? { position, until: null, at: found.at.toISOString() }
    : refuseMoment(BEFORE_FIRST);
}
