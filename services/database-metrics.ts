import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { Config } from '../platform/config.ts';
import { backupMetrics } from './backups/backup-metrics.ts';
import { clusterMetrics } from './cluster-metrics.ts';
import { waitingMetrics } from './moderation/stats/waiting-metrics.ts';
import { noticeMetrics } from './notices/notice-metrics.ts';
import { provingMetrics } from './proving/proving-metrics.ts';
import { sealMetrics } from './seal/seal-metrics.ts';

/** Registers what web and worker both report of the database, read once for each scrape. */
export function databaseMetrics(
  registry: Registry,
  pool: pg.Pool,
  config: Pick<Config, 'notifyUrls' | 'logWitnesses'>,
): void {
  waitingMetrics(registry, pool);
  noticeMetrics(registry, pool, config);
  sealMetrics(registry, pool, config);
  provingMetrics(registry, pool);
  backupMetrics(registry, pool);
  clusterMetrics(registry, pool);
}
