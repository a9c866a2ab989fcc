import { sealCommitted } from '../../services/seal/seal-log.ts';
import type { Service } from './service.ts';

/** Seals all events. A run seals nothing while a transaction is open that other tests have on the same server. */
export async function sealAll({ core, database }: Pick<Service, 'core' | 'database'>) {
  for (;;) {
    await sealCommitted(core);
    const { rows } = await database.pool.query(
      `SELECT coalesce((SELECT position FROM seal_trees ORDER BY epoch DESC LIMIT 1), 0)
         = (SELECT max(position) FROM events) AS sealed`,
    );
    if (rows[0].sealed) return;
  }
}
