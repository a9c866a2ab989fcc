import type pg from 'pg';
import type { Registry } from 'prom-client';
import { query } from '../../platform/postgres/query.ts';
import { scrapedGauges } from '../../platform/telemetry/scraped-gauges.ts';
import { lastBackup } from './backup-store.ts';

/**
 * Registers the time and the result of the last scheduled backup, read from the database once for each scrape. The
 * values are the same in every process. Nothing is reported before the first one.
 */
export function backupMetrics(registry: Registry, pool: pg.Pool): void {
  const { gauge } = scrapedGauges(registry, async () => (await query(pool, lastBackup()))[0]);
  gauge(
    'backup_taken_at',
    'Unix time in seconds of the state that the last verified backup of `npm run backup -- --keep` holds',
    ({ taken_at }) => (taken_at ? taken_at.getTime() / 1000 : undefined),
  );
  gauge('backup_failed', '1 if the last `npm run backup -- --keep` failed, else 0', ({ failed }) =>
    Number(failed),
  );
}
