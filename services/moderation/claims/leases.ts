import { unixSeconds } from '../../../platform/http/schemas.ts';
import { conflict, type Refusal } from '../../../platform/refusal.ts';
import { named, type Sql, sql } from '../../../platform/sql.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import type { Subject } from '../queue/subject.ts';

export interface LeaseRow {
  lease_id: string;
  subject_type: Subject['type'];
  /** The id of the note or the record. */
  note_id: string;
  moderator_id: string;
  claimed_at: Date;
  expires_at: Date;
}

export type NamedLease = LeaseRow & { name: string | null };

/** A lease as the API returns it. */
export interface Lease {
  lease_id: string;
  /** Null if the item is a record. */
  note_id: string | null;
  subject: Subject;
  /** Unix seconds. */
  expires_at: number;
}

/** The item that a lease is on. */
export const subjectOf = (row: Pick<LeaseRow, 'subject_type' | 'note_id'>): Subject => ({
  type: row.subject_type,
  id: row.note_id,
});

export function leaseBody(row: Omit<LeaseRow, 'moderator_id' | 'claimed_at'>): Lease {
  const subject = subjectOf(row);
  return {
    lease_id: row.lease_id,
    note_id: subject.type === 'note' ? subject.id : null,
    subject,
    expires_at: unixSeconds(row.expires_at),
  };
}

/** A moderator's leases that are live by the database's clock. */
export function liveLeases(moderatorId: string): Sql<LeaseRow> {
  return named(
    `SELECT * FROM note_leases WHERE moderator_id = $1
      AND ${isLiveLease()} ORDER BY claimed_at, lease_id`,
    [moderatorId],
  );
}

export function liveLeaseOn({ type, id }: Subject): Sql<NamedLease> {
  return named(
    `SELECT l.*, m.name FROM note_leases l LEFT JOIN moderators m USING (moderator_id)
      WHERE l.note_id = $1 AND l.subject_type = $2 AND ${isLiveLease('l')}`,
    [id, type],
  );
}

/** Extends leases to five minutes from now, but at most to 30 minutes after the claim. */
export function renewLeases(
  moderatorId: string,
  leaseIds: readonly string[],
): Sql<Pick<LeaseRow, 'lease_id'>> {
  return named(
    `UPDATE note_leases SET expires_at = greatest(expires_at,
        least(clock_timestamp() + interval '5 minutes', claimed_at + interval '30 minutes'))
      WHERE lease_id = ANY($1::uuid[]) AND moderator_id = $2
        AND ${isLiveLease()} RETURNING lease_id`,
    [leaseIds, moderatorId],
  );
}

export function releaseLeases(
  moderatorId: string,
  leaseIds: readonly string[],
): Sql<Pick<LeaseRow, 'lease_id'>> {
  return sql`DELETE FROM note_leases WHERE lease_id = ANY(${leaseIds}::uuid[])
    AND moderator_id = ${moderatorId} RETURNING lease_id`;
}

export function claimedByOther(lease: NamedLease): Refusal<'state_conflict'> {
  const { note_id, subject, expires_at } = leaseBody(lease);
  return conflict('claimed_by_other', {
    ...(note_id ? { note_id } : { subject }),
    claimed_by: { id: lease.moderator_id, name: lease.name ?? '' },
    claimed_at: lease.claimed_at.toISOString(),
    expires_at,
  });
}
