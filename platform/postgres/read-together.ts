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
  return shareReads(async (ids: readonly string[]) => {
    const rows = await query(pool, statement([...new Set(ids)]));
    const byId = new Map(rows.map((row) => [idOf(row), row]));
    return ids.map((id) => byId.get(id));
  });
}

/** Creates a read of one row by one `defineRead` that shares statements in the same way. */
export function mergedRead<Row>(pool: pg.Pool): (read: Sql<Row>) => Promise<Row | undefined> {
  return shareReads(async (reads: readonly Sql<Row>[]) => {
    const rows = await query(pool, mergeReads<Row>(reads));
    if (reads.length === 1) return [rows[0]];
    const byTurn = new Map(rows.map((row) => [(row as { [TURN]: number })[TURN], row]));
    return reads.map((_, at) => byTurn.get(at + 1));
  });
}

/**
 * Creates a read that is shared in the same way, also if it takes several statements. `read` resolves to the result of each
 * that was asked for, in their order.
 */
export function shareReads<Asked, Result>(
  read: (asked: readonly Asked[]) => Promise<readonly Result[]>,
): (asked: Asked) => Promise<Result> {
  const readAll = async (batch: readonly { asked: Asked; until: number }[]) => {
    const until = Math.min(...batch.map((one) => one.until));
    const results = await withDeadline(() => read(batch.map(({ asked }) => asked)), until);
    return results.map((result) => ({ result }));
  };
  const group = createBatcher(readAll, {
    maxConcurrent: 3,
    waitMs: WAIT_MS,
    minBatch: MIN_BATCH,
    minWaiting: 1,
  });

  return (asked) =>
    withinDeadline(async (until) => {
      const one = { asked, until };
      const found = (await group.join(one, [])) ?? (await readAll([one]))[0];
      return (found as { result: Result }).result;
    });
}
