import { type Sql, sql } from '../sql.ts';

// On a cluster, a transaction that writes on another node is committed in two phases: here first, there a moment later.
// Until then its events are not visible, although the write is certain. Each transaction also leaves a mark in a table of
// this node, which is visible with the commit and proves it. A table that Citus knows as one of this node also makes
// it use two phases in every case. See docs/operating/distribute.md.

/** How long marks are kept, in hours: longer than any process asks for one. */
export const MARKS_KEPT_HOURS = 2;

/** Marks the transaction. */
export const insertMark = (id: string, now: Date): Sql =>
  sql`INSERT INTO write_marks (id, marked_at) VALUES (${id}::uuid, ${now}::timestamptz)`;

/** Selects a mark, if the transaction that left it was committed. */
export const findMark = (id: string): Sql => sql`SELECT FROM write_marks WHERE id = ${id}::uuid`;
