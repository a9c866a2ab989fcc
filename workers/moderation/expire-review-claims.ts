import { named, type Sql } from '../../platform/sql.ts';
import type { Core } from '../../services/compose.ts';
import { isExpiredLease } from '../../services/publications/review-leases.ts';
import { BATCH_SIZE, drainBatches } from '../batches.ts';

/** Deletes expired leases, which no longer hold anything; returns how many. */
export function expireLeases({ pool }: Pick<Core, 'pool'>): Promise<number> {
  return drainBatches(pool, () => deleteExpired(BATCH_SIZE));
}

function deleteExpired(limit: number): Sql {
  return named(
    `DELETE FROM note_leases WHERE lease_id IN (
        SELECT lease_id FROM note_leases WHERE ${isExpiredLease()}
        LIMIT $1 FOR UPDATE SKIP LOCKED)
      RETURNING lease_id`,
    [limit],
  );
}
