import { type SealDeps, sealCommitted } from '../../services/seal/seal-log.ts';
import type { Service } from './service.ts';
import { unpostponed } from './unpostponed.ts';

/** Runs the job that seals the log. */
export const sealNow = (deps: SealDeps) => unpostponed(() => sealCommitted(deps));

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
