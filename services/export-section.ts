import type pg from 'pg';
import { z } from 'zod';
import type { Sql } from '../platform/sql.ts';

/**
 * One section of the account export: the data that a capability holds about a member. It is read in
 * keyset batches, so that a slow client holds neither the document in memory nor a connection.
 */
export interface ExportSection<Row extends pg.QueryResultRow = never> {
  /** The section's JSON key: snake_case, and plural if the value is an array. */
  name: string;
  /** `many`, the default: the value is an array. `one`: the value is the only entry, or null. */
  shape?: 'many' | 'one';
  /** Rows per statement, 200 by default. Use less for large rows. */
  batch?: number;
  /**
   * Reads the rows after `last` in index order, or the first rows if `last` is undefined. A
   * moderator's decision is left out until its undo window of `undoSeconds` is over.
   */
  after(memberId: string, last: Row | undefined, limit: number, undoSeconds: number): Sql<Row>;
  /** Converts a row to the member's view, without verifiers, keys or hashes of keys. */
  entry(row: Row): unknown;
  /** The schema of an entry, for the OpenAPI document. */
  schema: z.ZodType;
}

/** The decision that rejected or removed a record; null until moderators can no longer undo it. */
export const ToldDecision = z
  .object({ policy: z.string(), message: z.string().nullable() })
  .nullable();

/** Drops the row type of a section, so that all sections fit in one list. */
export function exportSection<Row extends pg.QueryResultRow>(
  section: ExportSection<Row>,
): ExportSection {
  return section as unknown as ExportSection;
}
