import { hash } from 'node:crypto';
import type { Sql } from '../../platform/sql.ts';

/** Columns of a read model that hold names or free text; null means erased. */
export interface Texts {
  table: string;
  columns: readonly string[];
  /**
   * The column with the member who owns these texts, which become null when that member is erased.
   * Absent if the capability's own events erase the text.
   */
  member?: string;
}

/** Sets a member's texts to null, in at most `limit` rows; returns one row for each. */
export function eraseTexts(
  { table, columns, member }: Texts,
  memberId: string,
  limit?: number,
): Sql {
  const some = columns.map((column) => `${column} IS NOT NULL`).join(' OR ');
  const rows = `SELECT ctid FROM ${table} WHERE ${member} = $1 AND (${some})`;
  const batch = limit === undefined ? rows : `${rows} LIMIT ${limit} FOR UPDATE`;
  const text = `UPDATE ${table} SET ${columns.map((column) => `${column} = NULL`).join(', ')}
    WHERE ctid = ANY(ARRAY(${batch})) RETURNING 1`;
  return { name: hash('sha1', text), text, values: [memberId] };
}
