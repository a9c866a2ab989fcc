import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { Config } from '../platform/config.ts';
import { query } from '../platform/postgres/query.ts';
import { sql } from '../platform/sql.ts';
import { scrapedGauges } from '../platform/telemetry/scraped-gauges.ts';
import { backupMetrics } from './backups/last-backup.ts';
import { waitingMetrics } from './moderation/stats/waiting-metrics.ts';
import { noticeMetrics } from './notices/notice-metrics.ts';
import { provingMetrics } from './proving/last-proof.ts';
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

/**
 * Registers for how long, as far as the scrapes of this process have seen, the oldest unconfirmed commit of a cluster has waited
 * for another node. Nothing is reported on one server, or while no commit waits.
 */
export function clusterMetrics(
  registry: Registry,
  pool: pg.Pool,
  now: () => number = () => performance.now(),
): void {
  let oldest: { xid: string; seenAt: number } | undefined;
  const { gauge } = scrapedGauges(registry, async () => {
    const [found] = await query<{ xid: string | null }>(
      pool,
      sql`SELECT oldest_two_phase_commit()::text AS xid`,
    );
    if (!found?.xid) oldest = undefined;
    else if (found.xid !== oldest?.xid) oldest = { xid: found.xid, seenAt: now() };
    return oldest;
  });
  gauge(
    'unconfirmed_commit_seconds',
    'How long scrapes have seen the same commit wait for another node of the cluster; no value on one server or while none waits',
    ({ seenAt }) => (now() - seenAt) / 1000,
  );
}
