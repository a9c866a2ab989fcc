import { named, type Sql } from '../../platform/sql.ts';
import type { Core } from '../../services/compose.ts';
import { isForgotten } from '../../services/moderation/claims/claim-times.ts';
import { isExpiredLease } from '../../services/publications/review-leases.ts';
import { BATCH_SIZE, drainBatches } from '../running/batches.ts';

/** Deletes expired leases, and times of claims that no longer count; returns how many. */
export async function expireReviewLeases({ pool }: Pick<Core, 'pool'>): Promise<number> {
  const leases = await drainBatches(pool, () => deleteExpired(BATCH_SIZE));
  return leases + (await drainBatches(pool, () => deleteForgotten(BATCH_SIZE)));
}

function deleteForgotten(limit: number): Sql {
  return named(
    `DELETE FROM claim_times WHERE ctid = ANY(ARRAY(
        SELECT t.ctid FROM claim_times t WHERE ${isForgotten('t')}
        ORDER BY t.ended_at LIMIT $1 FOR UPDATE SKIP LOCKED))
      RETURNING note_id`,
    [limit],
  );
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
