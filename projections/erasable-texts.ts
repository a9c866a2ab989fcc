import { hash } from 'node:crypto';
import type { Sql } from '../platform/sql.ts';

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

const withText = ({ table, columns, member }: Texts): string => {
  const some = columns.map((column) => `${column} IS NOT NULL`).join(' OR ');
  return `SELECT ctid FROM ${table} WHERE ${member} = $1 AND (${some})`;
};

const toNull = ({ table, columns }: Texts): string =>
  `UPDATE ${table} SET ${columns.map((column) => `${column} = NULL`).join(', ')}`;

const statement = <Row>(text: string, values: unknown[]): Sql<Row> =>
  ({ name: hash('sha1', text), text, values }) as Sql<Row>;

/** Sets all texts of a member to null. */
export const eraseTexts = (texts: Texts, memberId: string): Sql =>
  statement(`${toNull(texts)} WHERE ctid = ANY(ARRAY(${withText(texts)}))`, [memberId]);

/** Finds rows with texts of a member, at most `limit`, for `eraseTextsIn`. It walks past those without. */
export const rowsWithTexts = (
  texts: Texts,
  memberId: string,
  limit: number,
): Sql<{ ctid: string }> => statement(`${withText(texts)} LIMIT ${limit}`, [memberId]);

/** Sets a member's texts to null in these rows; skips a row that was changed since, which is found again. */
export const eraseTextsIn = (
  texts: Texts,
  memberId: string,
  rows: readonly { ctid: string }[],
): Sql =>
  statement(`${toNull(texts)} WHERE ctid = ANY($2::tid[]) AND ${texts.member} = $1`, [
    memberId,
    rows.map(({ ctid }) => ctid),
  ]);
