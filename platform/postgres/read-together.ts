import type pg from 'pg';
import { createBatcher } from '../batcher.ts';
import type { Sql } from '../sql.ts';
import { mergeReads, TURN } from './batch-statements.ts';
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
  return sharedRead(
    pool,
    (ids: readonly string[]) => statement([...new Set(ids)]),
    (rows, ids) => {
      const byId = new Map(rows.map((row) => [idOf(row), row]));
      return ids.map((id) => byId.get(id));
    },
  );
}

/** Creates a read of one row by one `defineRead` that shares statements in the same way. */
export function mergedRead<Row>(pool: pg.Pool): (read: Sql<Row>) => Promise<Row | undefined> {
  return sharedRead(pool, mergeReads<Row>, (rows, reads) => {
    if (reads.length === 1) return rows;
    const byTurn = new Map(rows.map((row) => [(row as { [TURN]: number })[TURN], row]));
    return reads.map((_, at) => byTurn.get(at + 1));
  });
}

/** `assign` gives each of the reads its row, in their order. */
function sharedRead<Asked, Row>(
  pool: pg.Pool,
  statement: (asked: readonly Asked[]) => Sql<Row>,
  assign: (rows: readonly Row[], asked: readonly Asked[]) => readonly (Row | undefined)[],
): (one: Asked) => Promise<Row | undefined> {
  const read = async (batch: readonly { asked: Asked; until: number }[]) => {
    const asked = batch.map((one) => one.asked);
    const until = Math.min(...batch.map((one) => one.until));
    const rows = assign(await withDeadline(() => query(pool, statement(asked)), until), asked);
    return batch.map((_, at) => ({ row: rows[at] }));
  };
  const group = createBatcher(read, {
    maxConcurrent: 3,
    waitMs: WAIT_MS,
    minBatch: MIN_BATCH,
    minWaiting: 1,
  });

  return (asked) =>
    withinDeadline(async (until) => {
      const one = { asked, until };
      const found = (await group.join(one, [])) ?? (await read([one]))[0];
      return found?.row;
    });
}
