import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { query } from '../../platform/postgres/query.ts';
import { type SealProgress, sealProgress } from './tree-store.ts';

/**
 * Registers how far the log is sealed, read from the database once for each scrape. The values are the same in every
 * process. Nothing is reported of a log that was never sealed.
 */
export function sealMetrics(registry: Registry, pool: pg.Pool): void {
  let pending: Promise<SealProgress | undefined> | undefined;
  const progress = () => {
    pending ??= query(pool, sealProgress())
      .then(([row]) => row)
      .catch(() => undefined)
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };

  function gauge(name: string, help: string, read: (current: SealProgress) => number): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const current = await progress();
        // Leave out an unknown figure, because 0 would be a false claim.
        if (current) this.set(read(current));
        else this.remove();
      },
    });
  }

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
