import { conflict } from '../../../domain/conflict.ts';
import type { Subject } from '../../../domain/moderation/subject.ts';
import { type OwnAppend, streamVersion } from '../../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import type { Owner } from '../../../platform/eventstore/owner.ts';
import { unixSeconds } from '../../../platform/http/schemas.ts';
import type { Refusal } from '../../../platform/refusal.ts';
import { named, type Sql } from '../../../platform/sql.ts';
import { isExpiredLease, isLiveLease } from '../../publications/review-leases.ts';
import { MAX_LEASES } from '../queue/contract.ts';
import { LONGEST_CLAIM, refundLeases, timeLeft } from './claim-times.ts';

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

/** The reply of a command on leases, from which its handler makes the body. */
export interface LeaseReply<One> {
  status: 200;
  body: One[];
  headers?: Record<string, string>;
}

export const replyWith = <One>(body: One[]): LeaseReply<One> => ({ status: 200, body });

export function limitReached(): Refusal<'state_conflict'> {
  return conflict('claim_limit', { limit: MAX_LEASES });
}

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

/** Live leases on items of one kind, with the names of their moderators. */
export function liveLeasesOn(type: Subject['type'], ids: readonly string[]): Sql<NamedLease> {
  return named(
    `SELECT l.*, m.name FROM note_leases l LEFT JOIN moderators m USING (moderator_id)
      WHERE l.note_id = ANY($1::uuid[]) AND l.subject_type = $2 AND ${isLiveLease('l')}`,
    [ids, type],
  );
}

/**
 * SQL that leases the `picked` items to a moderator if the condition `fits` holds. A live lease on an
 * item stays as it is, unless it is to be `replaced`.
 */
export const leaseWhere = (moderator: string, fits = 'true', replaced = 'false'): string =>
  `INSERT INTO note_leases
    (lease_id, subject_type, note_id, moderator_id, claimed_at, expires_at)
  SELECT gen_random_uuid(), picked.subject_type, picked.note_id, ${moderator}, now.at,
    now.at + least(interval '5 minutes', ${timeLeft('spent')})
  FROM (SELECT clock_timestamp() AS at) now, picked
    LEFT JOIN claim_times spent ON spent.moderator_id = ${moderator}
      AND spent.subject_type = picked.subject_type AND spent.note_id = picked.note_id
  WHERE ${fits}
  ORDER BY picked.note_id
  ON CONFLICT (note_id, subject_type) DO UPDATE SET lease_id = excluded.lease_id,
    moderator_id = excluded.moderator_id, claimed_at = excluded.claimed_at,
    expires_at = excluded.expires_at
  WHERE ${isExpiredLease('note_leases')} OR ${replaced}
  RETURNING *`;

/** Extends leases to five minutes from now, as far as the moderator has time left for the item. */
export function renewLeases(
  moderatorId: string,
  leaseIds: readonly string[],
): Sql<Pick<LeaseRow, 'lease_id'>> {
  return named(
    `WITH held AS MATERIALIZED (SELECT l.lease_id, l.expires_at,
          least(l.expires_at + ${timeLeft('t')}, l.claimed_at + ${LONGEST_CLAIM}) AS last
        FROM note_leases l LEFT JOIN claim_times t USING (moderator_id, subject_type, note_id)
        WHERE l.lease_id = ANY($1::uuid[]) AND l.moderator_id = $2 AND ${isLiveLease('l')}
        FOR UPDATE OF l),
      renewed AS (UPDATE note_leases l SET expires_at = greatest(held.expires_at,
          least(clock_timestamp() + interval '5 minutes', held.last))
        FROM held WHERE l.lease_id = held.lease_id
        RETURNING l.*, l.expires_at - held.expires_at AS more),
      charged AS (UPDATE claim_times t SET used = t.used + r.more, ended_at = r.expires_at
        FROM renewed r WHERE (t.moderator_id, t.subject_type, t.note_id)
          = (r.moderator_id, r.subject_type, r.note_id))
      SELECT lease_id FROM renewed`,
    [leaseIds, moderatorId],
  );
}

/** Ends leases and gives back the time that they had left. */
export function releaseLeases(
  moderatorId: string,
  leaseIds: readonly string[],
): Sql<Pick<LeaseRow, 'lease_id'>> {
  return named(
    `WITH released AS (DELETE FROM note_leases WHERE lease_id = ANY($1::uuid[])
        AND moderator_id = $2 RETURNING *),
      refunded AS (${refundLeases('released')})
      SELECT lease_id FROM released`,
    [leaseIds, moderatorId],
  );
}

/** The stream that records which claims on an item leads have taken over; its owner is the item's. */
export const takeOverStream = ({ type, id }: Subject): string => `claim-${type}-${id}`;

/** The event of a lead who takes over an item that another moderator holds. */
export function takeOverAppend(
  owner: Owner,
  lease: LeaseRow,
  last: readonly RecordedEvent[],
): OwnAppend {
  const subject = subjectOf(lease);
  return {
    owner,
    stream: takeOverStream(subject),
    version: streamVersion(last),
    events: [
      {
        type: 'ClaimTakenOver',
        data: { subject, from: lease.moderator_id, claimed_at: lease.claimed_at.toISOString() },
        personal: null,
      },
    ],
  };
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
