import { hash } from 'node:crypto';
import type { Sql } from '../../platform/sql.ts';

/** Columns of a read model that hold names or free text. Null stands for what was erased. */
export interface Texts {
  table: string;
  columns: readonly string[];
  /**
   * The column with the member whose texts these are: they become null when that member is erased.
   * Absent where events of the feature's own say when a text goes.
   */
  member?: string;
}

/** Makes texts of a member null, at most `limit` rows of them; answers one row for each. */
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
