import type pg from 'pg';
import type { Registry } from 'prom-client';
import { query } from '../../platform/postgres/query.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { scrapedGauges } from '../../platform/telemetry/scraped-gauges.ts';

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

/**
 * Registers when the read models were last proven, read from the database once for each scrape. The values are the
 * same in every process. Nothing is reported before the first proof.
 */
export function provingMetrics(registry: Registry, pool: pg.Pool): void {
  const { gauge } = scrapedGauges(registry, async () => (await query(pool, lastProof()))[0]);
  gauge(
    'read_models_proven_at',
    'Unix time in seconds at which every read model was last found equal to the log',
    ({ proven_at }) => (proven_at ? proven_at.getTime() / 1000 : undefined),
  );
  gauge(
    'read_models_divergent',
    'Rows of read models that differed from the log when they were last compared',
    ({ divergent }) => divergent,
  );
}
