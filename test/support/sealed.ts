import { settledPosition } from '../../platform/eventstore/subscription.ts';
import { type SealDeps, sealCommitted } from '../../services/seal/seal-log.ts';
import type { Service } from './service.ts';

/**
 * Runs the job that seals the log once no transaction is left that was open before. Other tests may have one for
 * seconds on the same server, and a run seals nothing meanwhile.
 */
export async function sealNow(deps: SealDeps) {
  while ((await settledPosition(deps.pool)) === undefined);
  return sealCommitted(deps);
}

/** Seals all events. */
export async function sealAll({ core, database }: Pick<Service, 'core' | 'database'>) {
  for (;;) {
    await sealNow(core);
    const { rows } = await database.pool.query(
      `SELECT coalesce((SELECT position FROM seal_trees ORDER BY epoch DESC LIMIT 1), 0)
         = (SELECT max(position) FROM events) AS sealed`,
    );
    if (rows[0].sealed) return;
  }
}
