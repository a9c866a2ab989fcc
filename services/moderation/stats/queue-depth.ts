import type pg from 'pg';
import { MAX_COUNTED } from '../../../domain/publications/words.ts';
import { query } from '../../../platform/postgres/query.ts';
import { type DepthRow, queueDepth } from '../../../projections/moderation/review-stats.ts';

/** How long the count of a long queue is used, in milliseconds. */
const COUNT_MS = 60_000;
const EMPTY: DepthRow = {
  now: new Date(0),
  pending: 0,
  past_due: 0,
  oldest_seconds: null,
  reported: 0,
};

/**
 * Creates the function that reads the depth of the queue. Its cost must not grow with the queue, so
 * what is longer than 1000 is counted once a minute.
 */
export function createDepthReader(pool: pg.Pool): () => Promise<DepthRow> {
  let whole = EMPTY;
  let until = Number.NEGATIVE_INFINITY;

  async function readWhole(): Promise<DepthRow> {
    if (performance.now() > until) {
      [whole = EMPTY] = await query(pool, queueDepth(null));
      until = performance.now() + COUNT_MS;
    }
    return whole;
  }

  return async () => {
    const [depth = EMPTY] = await query(pool, queueDepth(MAX_COUNTED + 1));
    const { pending, past_due, reported } = depth;
    if (Math.max(pending, past_due, reported) <= MAX_COUNTED) return depth;
    const counted = await readWhole();
    const exact = (count: number, all: number) =>
      count <= MAX_COUNTED ? count : Math.max(count, all);
    return {
      ...depth,
      pending: exact(pending, counted.pending),
      past_due: exact(past_due, counted.past_due),
      reported: exact(reported, counted.reported),
    };
  };
}
