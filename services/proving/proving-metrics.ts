import type pg from 'pg';
import type { Registry } from 'prom-client';
import { query } from '../../platform/postgres/query.ts';
import { scrapedGauges } from '../../platform/telemetry/scraped-gauges.ts';
import { lastProof } from './proof-store.ts';

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
