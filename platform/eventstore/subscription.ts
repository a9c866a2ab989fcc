import type pg from 'pg';
import { query } from '../postgres/query.ts';
import { named, type Sql, sql } from '../sql.ts';
import type { RecordedEvent } from './event.ts';

export type TailEvent = Pick<
  RecordedEvent,
  'position' | 'event_id' | 'type' | 'stream_id' | 'stream_version' | 'actor'
>;

const BATCH = 1000;
/** How far back a transaction may still hold a position when the tail is opened. */
const LOOKBACK = 500;
/** No command lives as long: a position that is missing for so long was rolled back. */
const LOST_MS = 10_000;

/**
 * Follows the log by position from now on. Positions are given before they are committed, so a
 * later one may be seen first: those that are missing are asked for again until they come or are
 * given up.
 */
export function openTail(pool: pg.Pool) {
  const missing = new Map<number, number>();
  let unread: TailEvent[] = [];
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
   * What was committed since the last call, in the order of positions but for late ones. Where it
   * fails, nothing is lost: the next call answers it.
   */
  async function read(): Promise<TailEvent[]> {
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

  /** Everything up to here was read: where whoever got all of it may go on later. */
  function settled(): number {
    return Math.min(last, ...[...missing.keys()].map((position) => position - 1));
  }

  return { read, settled, last: () => last };
}

/** Of the log; 0 where nothing stands in it. */
export function newestPosition(): Sql<{ position: number }> {
  return sql`SELECT coalesce(max(position), 0) AS position FROM events`;
}

const EVENTS = `SELECT position, event_id, type, stream_id, stream_version, actor FROM events
  WHERE position > $1`;

function eventsFrom(last: number, missing: readonly number[], limit: number): Sql<TailEvent> {
  return named(`${EVENTS} OR position = ANY($3::bigint[]) ORDER BY position LIMIT $2`, [
    last,
    limit,
    missing,
  ]);
}

/** What stands after a position now. */
export function eventsAfter(position: number, limit: number): Sql<TailEvent> {
  return named(`${EVENTS} ORDER BY position LIMIT $2`, [position, limit]);
}
