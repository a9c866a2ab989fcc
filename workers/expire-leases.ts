import type { Core } from '../services/app.ts';
import { type Sql, sql } from '../services/eventstore/sql.ts';
import { query } from '../services/postgres.ts';
import { BATCH } from './batches.ts';

/** Drops leases past their end, which hold nothing any more; answers how many. */
export async function expireLeases({ pool }: Pick<Core, 'pool'>): Promise<number> {
  for (let done = 0; ; ) {
    const dropped = await query(pool, dropLeases(BATCH));
    done += dropped.length;
    if (dropped.length < BATCH) return done;
  }
}

function dropLeases(limit: number): Sql {
  return sql`DELETE FROM note_leases WHERE lease_id IN (
      SELECT lease_id FROM note_leases WHERE expires_at <= clock_timestamp()
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING lease_id`;
}
