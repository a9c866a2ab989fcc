import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import type { Config } from '../../platform/config.ts';
import type { LogWitness } from '../../platform/log-settings.ts';
import { query } from '../../platform/postgres/query.ts';
import { scrapedGauges } from '../../platform/telemetry/scraped-gauges.ts';
import { cosignedCheckpoint, newestTree, unsealedAfter } from './tree-store.ts';
import { type WitnessState, witnessStates } from './witnesses.ts';

/**
 * Registers how far the log is sealed, read from the database once for each scrape. The values are the same in every
 * process. Nothing is reported of a log that was never sealed.
 */
export function sealMetrics(
  registry: Registry,
  pool: pg.Pool,
  { logWitnesses }: Pick<Config, 'logWitnesses'>,
): void {
  const { gauge } = scrapedGauges(registry, async () => {
    const [tree] = await query(pool, newestTree());
    const [unsealed] = tree ? await query(pool, unsealedAfter(tree.position)) : [];
    return tree && unsealed && { ...tree, ...unsealed };
  });
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
    (is) => Number(is.refusal !== null),
  );
  witnessMetrics(registry, pool, logWitnesses);
}

function witnessMetrics(registry: Registry, pool: pg.Pool, witnesses: readonly LogWitness[]): void {
  const { reading } = scrapedGauges(registry, async () => {
    const [tree] = witnesses.length > 0 ? await query(pool, cosignedCheckpoint()) : [];
    return tree && witnessStates(witnesses, tree);
  });
  const byWitness = (name: string, help: string, value: (of: WitnessState) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['witness'],
      registers: [registry],
      async collect() {
        const states = (await reading()) ?? [];
        this.reset();
        for (const state of states) {
          const current = value(state);
          if (current !== undefined) this.set({ witness: state.name }, current);
        }
      },
    });
  byWitness(
    'seal_witness_missing',
    '1 if the public checkpoint lacks the signature of a witness of LOG_WITNESSES, else 0',
    ({ missing }) => Number(missing),
  );
  byWitness(
    'seal_witness_cosigned_at',
    'Unix time in seconds at which a witness of LOG_WITNESSES last co-signed a checkpoint of this epoch',
    ({ cosignedAt }) => (cosignedAt ? cosignedAt.getTime() / 1000 : undefined),
  );
}
