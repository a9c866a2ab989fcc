import { named, type Sql } from '../platform/sql.ts';

/** Something that was public and is not any more, and since when. */
export interface TakenDownRow {
  id: string;
  at: Date;
}

/**
 * Reads the records of a kind that were taken down, newest first: those of all authors, or of one.
 * The table must have the columns `taken_down_at` and `author_id`.
 */
export function recordsTakenDown(
  table: 'artifacts' | 'cases',
  idColumn: string,
  limit: number,
  author: string | undefined,
): Sql<TakenDownRow> {
  return named(
    `SELECT ${idColumn} AS id, taken_down_at AS at FROM ${table}
    WHERE taken_down_at IS NOT NULL ${author ? 'AND author_id = $2' : ''}
    ORDER BY taken_down_at DESC, ${idColumn} LIMIT $1`,
    author ? [limit, author] : [limit],
  );
}
