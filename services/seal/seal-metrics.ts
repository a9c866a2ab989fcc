import type pg from 'pg';
import type { Registry } from 'prom-client';
import { query } from '../../platform/postgres/query.ts';
import { scrapedGauges } from '../../platform/telemetry/scraped-gauges.ts';
import { sealProgress } from './tree-store.ts';

/**
 * Registers how far the log is sealed, read from the database once for each scrape. The values are the same in every
 * process. Nothing is reported of a log that was never sealed.
 */
export function sealMetrics(registry: Registry, pool: pg.Pool): void {
  const { gauge } = scrapedGauges(registry, async () => (await query(pool, sealProgress()))[0]);
  gauge('seal_position', 'Position of the last event in the sealed log', (is) => is.position);
  gauge(
    'seal_lag_events',
    'Events that are not in the sealed log yet; at most 100000 are counted',
    (is) => is.waiting,
  );
  gauge(
    'seal_lag_seconds',
    'Age of the oldest event that is not in the sealed log yet; 0 if all are',
    (is) => is.seconds,
  );
  gauge(
    'seal_refused',
    '1 if nothing is signed because log and tree contradict each other, else 0',
    (is) => Number(is.refused),
  );
}
