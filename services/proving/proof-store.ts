import { type Sql, sql } from '../../platform/sql.ts';

/** When the read models were last compared with the log, and what differed. */
export interface LastProof {
  checked_at: Date;
  /** When nothing differed; null if something always did. */
  proven_at: Date | null;
  divergent: number;
  tables: string[];
}

/** Reads the last comparison; no row if there was none. */
export const lastProof = (): Sql<LastProof> =>
  sql`SELECT checked_at, proven_at, divergent::int AS divergent, tables FROM read_model_proofs`;

/** Records a comparison that began at a time. One that began earlier than the recorded one is left out. */
export const recordProof = (
  startedAt: Date,
  { divergent, tables }: { divergent: number; tables: readonly string[] },
): Sql => sql`INSERT INTO read_model_proofs AS last (checked_at, proven_at, divergent, tables)
    VALUES (${startedAt}, CASE WHEN ${divergent}::bigint = 0 THEN ${startedAt}::timestamptz END,
      ${divergent}, ${tables})
    ON CONFLICT (one) DO UPDATE SET checked_at = excluded.checked_at,
      proven_at = coalesce(excluded.proven_at, last.proven_at), divergent = excluded.divergent,
      tables = excluded.tables
      WHERE last.checked_at <= excluded.checked_at`;
