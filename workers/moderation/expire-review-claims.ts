import { type Sql, sql } from '../../platform/sql.ts';
import type { Core } from '../../services/compose.ts';
import { BATCH_SIZE, drainBatches } from '../batches.ts';

/** Deletes expired leases, which no longer hold anything; returns how many. */
export function expireLeases({ pool }: Pick<Core, 'pool'>): Promise<number> {
  return drainBatches(pool, () => dropLeases(BATCH_SIZE));
}

function dropLeases(limit: number): Sql {
  return sql`DELETE FROM note_leases WHERE lease_id IN (
      SELECT lease_id FROM note_leases WHERE expires_at <= clock_timestamp()
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING lease_id`;
}
