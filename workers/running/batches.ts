import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import type { Sql } from '../../platform/sql.ts';

export const BATCH_SIZE = 500;
const MAX_CONCURRENT = 4;

/** Repeats `batch` until it returns fewer than `BATCH_SIZE` rows; returns how many rows in total. */
export async function drainBatches(pool: pg.Pool, batch: () => Sql): Promise<number> {
  for (let done = 0; ; ) {
    const touched = await query(pool, batch());
    done += touched.length;
    if (touched.length < BATCH_SIZE) return done;
  }
}

/**
 * Works on the rows that `next` finds, batch by batch, each row once; returns for how many `work`
 * returned true. A row that fails, or needs no work, may be found again, so each batch asks for as
 * many more rows. If any row failed, the run fails at its end, and the job is retried.
 */
export async function forEachInBatches<Row>(
  next: (limit: number) => Promise<Row[]>,
  work: (row: Row) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  const left = new Set<string>();
  const errors: unknown[] = [];
  for (;;) {
    const limit = BATCH_SIZE + left.size;
    const rows = await next(limit);
    const waiting = rows.filter((row) => !left.has(JSON.stringify(row))).values();
    const runOne = async () => {
      for (const row of waiting) {
        const worked = await work(row).catch((error: unknown) => {
          errors.push(error);
          return false;
        });
        if (worked) done++;
        else left.add(JSON.stringify(row));
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, runOne));
    if (rows.length < limit) break;
  }
  if (errors.length > 0) throw new Error(`${errors.length} rows failed`, { cause: errors[0] });
  return done;
}
