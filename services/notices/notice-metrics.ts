import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import type { Config } from '../../platform/config.ts';
import { query } from '../../platform/postgres/query.ts';
import { receiversOf } from './messages.ts';
import { receiverStates } from './receiver-state.ts';

/** Registers how many attempts to call each receiver failed in a row, read for each scrape. */
export function noticeMetrics(
  registry: Registry,
  pool: pg.Pool,
  { notifyUrls }: Pick<Config, 'notifyUrls'>,
): void {
  const receivers = receiversOf(notifyUrls);
  new Gauge({
    name: 'notice_attempts_failed',
    help: 'Attempts in a row to call a receiver of NOTIFY_URLS that failed; 0 if the last one succeeded',
    labelNames: ['receiver'],
    registers: [registry],
    async collect() {
      const rows = await query(pool, receiverStates(receivers.map(({ key }) => key))).catch(
        () => [],
      );
      this.reset();
      for (const { key, name } of receivers) {
        const row = rows.find(({ receiver }) => receiver === key);
        if (row) this.set({ receiver: name }, row.attempts);
      }
    },
  });
}
