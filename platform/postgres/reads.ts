import type pg from 'pg';
import type { Sql } from '../sql.ts';
import { query } from './query.ts';
import { snapshot } from './snapshot.ts';

/** Where a read gets its rows: the database as it is now, or as it was at an earlier moment. */
export interface Reads {
  query<Row>(statement: Sql<Row>): Promise<Row[]>;
  /** Runs the statements on one snapshot, so that their results agree. */
  snapshot<Rows extends unknown[]>(
    statements: readonly [...{ [Turn in keyof Rows]: Sql<Rows[Turn]> }],
  ): Promise<{ [Turn in keyof Rows]: Rows[Turn][] }>;
}

/** Reads of what there is now. Errors are those of `query`. */
export const presentReads = (pool: pg.Pool): Reads => ({
  query: (statement) => query(pool, statement),
  snapshot: (statements) => snapshot(pool, statements),
});
