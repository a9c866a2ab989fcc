import type pg from 'pg';
import type { Registry } from 'prom-client';
import { query } from '../../platform/postgres/query.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { scrapedGauges } from '../../platform/telemetry/scraped-gauges.ts';

/** The last scheduled backup. */
export interface LastBackup {
  /** Whose state the last verified backup holds; null if none was verified. */
  taken_at: Date | null;
  /** When the last attempt ended. */
  ended_at: Date;
  failed: boolean;
}

/** Reads the last scheduled backup; no row if there was none. */
export const lastBackup = (): Sql<LastBackup> =>
  sql`SELECT taken_at, ended_at, failed FROM scheduled_backups`;

/** Records an attempt: the time of the state that was backed up and verified, or null if the attempt failed. */
export const recordBackup = (takenAt: string | null): Sql =>
  sql`INSERT INTO scheduled_backups AS last (taken_at, ended_at, failed)
    VALUES (${takenAt}::timestamptz, clock_timestamp(), ${takenAt}::timestamptz IS NULL)
    ON CONFLICT (one) DO UPDATE SET taken_at = coalesce(excluded.taken_at, last.taken_at),
      ended_at = excluded.ended_at, failed = excluded.failed`;

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
