import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { withDeadline } from '../../platform/postgres/request-deadline.ts';
import { type Sql, sql } from '../../platform/sql.ts';

/** Uses are collected this long, so that at the start of a day one statement records many. */
const COLLECT_MS = 500;

/**
 * Records the day of use of active credentials, without waiting for a flush: a lost day is recorded
 * again with the next use. Ordered by id, so that two processes cannot deadlock.
 */
function recordUses(credentialIds: readonly string[]): Sql {
  return sql`INSERT INTO credential_uses (member_id, credential_id, last_used_on)
    SELECT member_id, credential_id, (clock_timestamp() AT TIME ZONE 'UTC')::date
    FROM credentials, set_config('synchronous_commit', 'off', true)
    WHERE credential_id IN (SELECT unnest(${credentialIds}::uuid[])) AND state = 'active'
    ORDER BY credential_id
    ON CONFLICT (member_id, credential_id) DO UPDATE SET last_used_on = excluded.last_used_on
    WHERE credential_uses.last_used_on < excluded.last_used_on`;
}

/**
 * Creates a function that notes that a credential was used today. The request does not wait for the
 * write, and a failed write is repeated with the next use.
 */
export function createUseRecorder(pool: pg.Pool): (credentialId: string) => void {
  const used = new Set<string>();
  const start = () => setTimeout(() => void write(), COLLECT_MS).unref();

  async function write(): Promise<void> {
    const ids = [...used];
    // With a separate deadline: that of the request which started the timer may have passed.
    await withDeadline(() => query(pool, recordUses(ids))).catch(() => undefined);
    for (const id of ids) used.delete(id);
    if (used.size > 0) start();
  }

  return (credentialId) => {
    if (used.size === 0) start();
    used.add(credentialId);
  };
}

/** Deletes a batch of a member's records; returns one row for each. */
export function dropUses(memberId: string, limit: number): Sql {
  return sql`DELETE FROM credential_uses WHERE member_id = ${memberId} AND credential_id IN (
    SELECT credential_id FROM credential_uses WHERE member_id = ${memberId} LIMIT ${limit})
    RETURNING 1`;
}
