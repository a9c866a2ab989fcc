import type pg from 'pg';
import { createBatcher } from '../batcher.ts';
import type { Sql } from '../sql.ts';
import { query } from './query.ts';
import { withDeadline, withinDeadline } from './request-deadline.ts';

/** If the database is this slow, stop waiting for the shared read and query alone. */
const WAIT_MS = 1000;
/** Never split the queue: reading many rows costs hardly more than reading one. */
const MIN_BATCH = Number.POSITIVE_INFINITY;

/**
 * Creates a read of one row by id that shares statements: reads requested while others are in
 * flight are sent as one statement. Each statement starts after its reads were requested, so no
 * result is stale.
 */
export function readTogether<Row>(
  pool: pg.Pool,
  statement: (ids: readonly string[]) => Sql<Row>,
  idOf: (row: Row) => string,
): (id: string) => Promise<Row | undefined> {
  const read = async (asked: readonly { id: string; until: number }[]) => {
    const ids = new Set(asked.map(({ id }) => id));
    const until = Math.min(...asked.map((one) => one.until));
    const rows = await withDeadline(() => query(pool, statement([...ids])), until);
    const byId = new Map(rows.map((row) => [idOf(row), row]));
    return asked.map(({ id }) => ({ row: byId.get(id) }));
  };
  const group = createBatcher(read, {
    maxConcurrent: 3,
    waitMs: WAIT_MS,
    minBatch: MIN_BATCH,
    minWaiting: 1,
  });

  return (id) =>
    withinDeadline(async (until) => {
      const asked = { id, until };
      const found = (await group.join(asked, [])) ?? (await read([asked]))[0];
      return found?.row;
    });
}
