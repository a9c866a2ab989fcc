import type pg from 'pg';
import { type Sql, sql } from '../sql.ts';
import { rollBack } from './connection.ts';
import { pipeline } from './pipeline.ts';
import { query, runRead } from './query.ts';

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

const BEGIN = sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
const COMMIT = sql`COMMIT`;

/**
 * Runs reads on one snapshot of the database in one round trip, so that their results agree. Where there is no statement,
 * there are no rows.
 */
export async function snapshot<Rows extends unknown[]>(
  pool: pg.Pool,
  statements: readonly [...{ [Turn in keyof Rows]: Sql<Rows[Turn]> | undefined }],
): Promise<{ [Turn in keyof Rows]: Rows[Turn][] }> {
  const given = statements.filter((statement) => statement !== undefined);
  const [, ...rows] = await runRead(pool, (client) =>
    pipeline(client, [BEGIN, ...given, COMMIT]).catch(async (error: unknown) => {
      await rollBack(client);
      throw error;
    }),
  );
  return statements.map((statement) => (statement ? rows.shift() : [])) as {
    [Turn in keyof Rows]: Rows[Turn][];
  };
}
