import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { query } from '../../platform/postgres/query.ts';
import { type LastProof, lastProof } from './proof-store.ts';

/**
 * Registers when the read models were last proven, read from the database once for each scrape. The values are the
 * same in every process. Nothing is reported before the first proof.
 */
export function provingMetrics(registry: Registry, pool: pg.Pool): void {
  let pending: Promise<LastProof | undefined> | undefined;
  const last = () => {
    pending ??= query(pool, lastProof())
      .then(([row]) => row)
      .catch(() => undefined)
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };

  function gauge(name: string, help: string, read: (proof: LastProof) => number | undefined): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const proof = await last();
        const value = proof && read(proof);
        // Leave out an unknown figure, because 0 would be a false claim.
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }

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
