import type pg from 'pg';
import { z } from 'zod';
import type { Sql } from '../../platform/sql.ts';

/**
 * One member of the document that an account is exported as: what a feature holds on a member, read
 * in batches by keyset, so that neither the document nor a connection is held while a client reads.
 */
export interface ExportSection<Row extends pg.QueryResultRow = never> {
  /** The member's name in the document, plural snake_case; its value is an array. */
  name: string;
  /** `one`: the value is the only entry, or null where there is none. */
  shape?: 'many' | 'one';
  /** Rows in one statement; less where rows are large. 200 where nothing is said. */
  batch?: number;
  /**
   * The next rows after `last`, in an order that an index gives; from the first where it is undefined.
   * Of a moderator's decision they say nothing until its undo window, `undoSeconds`, is over.
   */
  after(memberId: string, last: Row | undefined, limit: number, undoSeconds: number): Sql<Row>;
  /** The row as the member sees it: never a verifier, a key or a hash of one. */
  entry(row: Row): unknown;
  /** What an entry is, for the OpenAPI document. */
  schema: z.ZodType;
}

/** Of what moderators rejected or took down, once they can no longer undo it. */
export const ToldDecision = z
  .object({ policy: z.string(), message: z.string().nullable() })
  .nullable();

/** Forgets the row's type, so that sections of every kind stand in one list. */
export function exportSection<Row extends pg.QueryResultRow>(
  section: ExportSection<Row>,
): ExportSection {
  return section as unknown as ExportSection;
}
