import type pg from 'pg';
import { type Sql, sql } from '../sql.ts';
import { rollBack } from './connection.ts';
import { pipeline } from './pipeline.ts';
import { runRead } from './query.ts';

const BEGIN = sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
const COMMIT = sql`COMMIT`;

/** Runs reads on one snapshot of the database in one round trip, so that their results agree. */
export async function snapshot<Rows extends unknown[]>(
  pool: pg.Pool,
  statements: readonly [...{ [Turn in keyof Rows]: Sql<Rows[Turn]> }],
): Promise<{ [Turn in keyof Rows]: Rows[Turn][] }> {
  const rows = await runRead(pool, (client) =>
    pipeline(client, [BEGIN, ...statements, COMMIT]).catch(async (error: unknown) => {
      await rollBack(client);
      throw error;
    }),
  );
  return rows.slice(1, -1) as { [Turn in keyof Rows]: Rows[Turn][] };
}
