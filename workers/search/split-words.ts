import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { SPLIT_TABLES, splitRows, unsplitRows } from '../../projections/search/unsplit.ts';
import { BATCH_SIZE } from '../running/batches.ts';

/**
 * Splits the texts of an earlier release into words for the search, and clears the words of texts that
 * its processes erased. Each batch is a transaction, so an interrupted run continues where it was.
 */
export async function splitWordsOfOldRows(pool: pg.Pool): Promise<number> {
  let done = 0;
  for (const table of SPLIT_TABLES) {
    for (;;) {
      const rows = await query(pool, unsplitRows(table, BATCH_SIZE));
      const written = rows.length > 0 ? await query(pool, splitRows(table, rows)) : [];
      done += written.length;
      // Rows that were changed meanwhile are found by the next run.
      if (rows.length < BATCH_SIZE || written.length === 0) break;
    }
  }
  return done;
}
