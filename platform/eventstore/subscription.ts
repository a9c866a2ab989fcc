import type pg from 'pg';
import { query } from '../postgres/query.ts';
import { named, type Sql, sql } from '../sql.ts';
import type { RecordedEvent } from './event.ts';

/** An event without its contents. */
export type FollowedEvent = Pick<
  RecordedEvent,
  'position' | 'event_id' | 'type' | 'stream_id' | 'stream_version' | 'actor'
>;

const BATCH = 1000;
/** Positions before the newest that open transactions may still hold when the tail is created. */
const LOOKBACK = 500;
/** No command runs this long, so a position that is missing for this time was rolled back. */
const LOST_MS = 10_000;

/**
 * Follows new events of the log by position. Positions are assigned before COMMIT, so a later one
 * may become visible first: each read queries missing positions again, until they appear or until
 * `LOST_MS` has passed.
 */
export function createLogFollower(pool: pg.Pool) {
  const missing = new Map<number, number>();
  let unread: FollowedEvent[] = [];
  let last = -1;
  let opened = false;

  function see(position: number, now: number): void {
    if (position < last) missing.delete(position);
    else {
      for (let gap = Math.max(last + 1, position - BATCH); gap < position; gap++)
        missing.set(gap, now);
      last = position;
    }
  }

  /**
   * Returns the events that were committed since the last call, in position order except for late
   * ones. The first call returns none. After a failure, the next call returns the missed events.
   */
  async function read(): Promise<FollowedEvent[]> {
    if (last < 0) {
      const [newest] = await query(pool, newestPosition());
      last = Math.max(0, (newest?.position ?? 0) - LOOKBACK);
    }
    for (;;) {
      const rows = await query(pool, eventsFrom(last, [...missing.keys()], BATCH));
      const now = performance.now();
      for (const { position } of rows) see(position, now);
      for (const [position, since] of missing) if (now - since > LOST_MS) missing.delete(position);
      unread.push(...rows);
      if (rows.length === BATCH) continue;
      const events = opened ? unread : [];
      opened = true;
      unread = [];
      return events;
    }
  }

  /** The position up to which every event was read, from which a consumer can resume. */
  function settled(): number {
    return Math.min(last, ...[...missing.keys()].map((position) => position - 1));
  }

  return { read, settled, last: () => last };
}

/** Reads the newest position of the log; 0 if the log is empty. */
export function newestPosition(): Sql<{ position: number }> {
  return sql`SELECT coalesce(max(position), 0) AS position FROM events`;
}

const EVENTS = `SELECT position, event_id, type, stream_id, stream_version, actor FROM events
  WHERE position > $1`;

function eventsFrom(last: number, missing: readonly number[], limit: number): Sql<FollowedEvent> {
  return named(`${EVENTS} OR position = ANY($3::bigint[]) ORDER BY position LIMIT $2`, [
    last,
    limit,
    missing,
  ]);
}

/** Reads the events that are visible after a position, oldest first. */
export function eventsAfter(position: number, limit: number): Sql<FollowedEvent> {
  return named(`${EVENTS} ORDER BY position LIMIT $2`, [position, limit]);
}
