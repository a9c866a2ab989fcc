import type { Subject } from '../../../domain/moderation/subject.ts';
import { named, type Sql } from '../../../platform/sql.ts';

/**
 * A moderator may claim one item for 30 minutes in all; after that, not until an hour has passed since
 * the last of these claims. A row of `claim_times` has what was used.
 */
export const LONGEST_CLAIM = `interval '30 minutes'`;
export const SHORTEST_CLAIM = `interval '1 minute'`;
const PAUSE = `interval '1 hour'`;

/** SQL that is true for a row that no longer counts. */
export const isForgotten = (row: string): string =>
  `${row}.ended_at <= clock_timestamp() - ${PAUSE}`;

/** SQL that is true for a row with less than the shortest claim left. */
export const isUsedUp = (row: string): string =>
  `${row}.used > ${LONGEST_CLAIM} - ${SHORTEST_CLAIM} AND NOT ${isForgotten(row)}`;

/** SQL for the time that a row, which may be missing, leaves. */
export const timeLeft = (row: string): string =>
  `CASE WHEN ${row}.used IS NULL OR ${isForgotten(row)} THEN ${LONGEST_CLAIM}
    ELSE greatest(${LONGEST_CLAIM} - ${row}.used, interval '0') END`;

/** SQL that charges the leases in `leased` to their holders, up to their expiry. */
export const chargeLeases = (leased: string): string => `INSERT INTO claim_times AS spent
    (moderator_id, subject_type, note_id, used, ended_at)
  SELECT moderator_id, subject_type, note_id, expires_at - claimed_at, expires_at FROM ${leased}
  ON CONFLICT (moderator_id, subject_type, note_id) DO UPDATE SET ended_at = excluded.ended_at,
    used = excluded.used + CASE WHEN ${isForgotten('spent')} THEN interval '0' ELSE spent.used END`;

/** SQL that gives the holders of the leases in `ended` back the time until their expiry. */
export const refundLeases = (ended: string): string => `UPDATE claim_times t
  SET ended_at = least(t.ended_at, clock_timestamp()),
    used = t.used - greatest(e.expires_at - clock_timestamp(), interval '0')
  FROM ${ended} e WHERE (t.moderator_id, t.subject_type, t.note_id)
    = (e.moderator_id, e.subject_type, e.note_id)`;

interface UsedUp {
  subject_type: Subject['type'];
  note_id: string;
  claimable_at: Date;
}

/** Which of the items the moderator has claimed for too long of late. */
export const usedUpBy = (moderatorId: string, subjects: readonly Subject[]): Sql<UsedUp> =>
  named(
    `SELECT t.subject_type, t.note_id, t.ended_at + interval '1 hour' AS claimable_at
      FROM claim_times t WHERE t.moderator_id = $1 AND t.note_id = ANY($2::uuid[])
        AND ${isUsedUp('t')}`,
    [moderatorId, subjects.map(({ id }) => id)],
  );
