import * as events from '../../domain/credentials/events.ts';
import type { Scope } from '../../domain/permissions.ts';
import type { Verifier } from '../../platform/keys/key-ring.ts';
import { type KeysetPosition, START_NEWEST } from '../../platform/keyset-cursor.ts';
import { defineBatch, defineInsert, defineRead } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { type EndReason, REASON_DAYS } from '../membership/ended-verifiers.ts';
import { defineProjection } from '../projection.ts';

const insertCredential = defineInsert(
  'credentials',
  {
    credential_id: 'uuid',
    member_id: 'uuid',
    label: 'text',
    scopes: 'text[]',
    state: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    key_epoch: 'int',
  },
  { key: ['credential_id'] },
);

const revokeCredential = defineBatch(
  'credentials',
  { credential_id: 'uuid', at: 'timestamptz', reason: 'text' },
  (given) => `UPDATE credentials c SET state = 'revoked', revoked_at = given.at,
      revoked_reason = given.reason
    FROM ${given} WHERE c.credential_id = given.credential_id`,
  ['credential_id'],
);

export const credentials = defineProjection(events, {
  name: 'credentials',
  tables: ['credentials'],
  texts: [{ table: 'credentials', columns: ['label'], member: 'member_id' }],
  on: {
    CredentialCreated: ({ owner_id, data, personal, recorded_at }) =>
      insertCredential({
        credential_id: data.credential_id,
        member_id: owner_id,
        label: personal?.label,
        scopes: data.scopes,
        state: 'active',
        created_at: recorded_at,
        expires_at: data.expires_at,
        key_epoch: data.key_epoch,
      }),
    CredentialRevoked: ({ data, recorded_at }) =>
      revokeCredential({
        credential_id: data.credential_id,
        at: recorded_at,
        reason: data.reason,
      }),
    CredentialExpired: ({ data }) =>
      sql`UPDATE credentials SET state = 'expired' WHERE credential_id = ${data.credential_id}`,
  },
});

export interface CredentialRow {
  credential_id: string;
  member_id: string;
  label: string | null;
  scopes: Scope[];
  state: 'active' | 'expired' | 'revoked';
  created_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_reason: 'rotated' | 'revoked' | 'recovery' | 'deactivated' | 'disabled' | null;
  /** The last UTC day of use, from `credential_uses`; null if never used. */
  last_used_on: string | null;
  /** Whether `expires_at` is in the future by the database's clock, regardless of `state`. */
  unexpired: boolean;
}

const credentialById = defineRead<CredentialRow>(
  { credential_id: 'uuid' },
  ({ credential_id }) => `SELECT *, expires_at > clock_timestamp() AS unexpired
    FROM credentials LEFT JOIN credential_uses USING (member_id, credential_id)
    WHERE credential_id = ${credential_id}`,
);

/** Finds a credential of any member. */
export const findCredential = (credentialId: string): Sql<CredentialRow> =>
  credentialById({ credential_id: credentialId });

/**
 * Reads a member's credentials that are neither revoked nor expired, ordered by expiry. A
 * credential lasts at most a day, so credentials older than two days are not read. One without a
 * verifier ended with a restore.
 */
export function activeCredentials(memberId: string): Sql<CredentialRow> {
  return sql`SELECT *, true AS unexpired
    FROM credentials LEFT JOIN credential_uses USING (member_id, credential_id)
    WHERE member_id = ${memberId}::uuid
    AND created_at > clock_timestamp() - interval '2 days'
    AND state = 'active' AND expires_at > clock_timestamp()
    AND EXISTS (SELECT FROM verifiers v WHERE v.owner_id = credentials.member_id
      AND v.purpose = 'credential' AND v.subject_id = credentials.credential_id)
    ORDER BY expires_at, credential_id`;
}

/** Reads a member's credentials whose end the log does not record yet. */
export function unendedCredentials(memberId: string): Sql<CredentialRow> {
  return sql`SELECT credential_id FROM credentials
    WHERE member_id = ${memberId} AND state = 'active' ORDER BY created_at, credential_id`;
}

/** A credential in a list; `place` is its time of creation in a cursor. */
export type PlacedCredential = CredentialRow & { place: string };

/** Reads a page of a member's credentials, newest first. */
export function credentialsOfMember(
  memberId: string,
  activeOnly: boolean,
  limit: number,
  after: KeysetPosition = START_NEWEST,
): Sql<PlacedCredential> {
  return sql`SELECT *, expires_at > clock_timestamp() AS unexpired,
      to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM credentials LEFT JOIN credential_uses USING (member_id, credential_id)
    WHERE member_id = ${memberId}::uuid
      AND created_at <= ${after.at}::timestamptz
      AND (created_at < ${after.at}::timestamptz OR credential_id > ${after.id}::uuid)
      AND (NOT ${activeOnly}::boolean OR state = 'active' AND expires_at > clock_timestamp())
    ORDER BY created_at DESC, credential_id LIMIT ${limit}`;
}

/** A credential with `created_at` to the microsecond, in `at`. */
export type ListedCredential = CredentialRow & { at: string };

/** Reads a member's credentials after `last`, newest first. */
export function credentialsAfter(
  memberId: string,
  last: Pick<ListedCredential, 'at' | 'credential_id'> | undefined,
  limit: number,
): Sql<ListedCredential> {
  const { at, credential_id } = last ?? {
    at: 'infinity',
    credential_id: '00000000-0000-0000-0000-000000000000',
  };
  return sql`SELECT *, expires_at > clock_timestamp() AS unexpired, created_at::text AS at
    FROM credentials LEFT JOIN credential_uses USING (member_id, credential_id)
    WHERE member_id = ${memberId} AND created_at <= ${at}::timestamptz
      AND (created_at < ${at}::timestamptz OR credential_id > ${credential_id}::uuid)
    ORDER BY created_at DESC, credential_id LIMIT ${limit}`;
}

/**
 * Rechecks a bearer that was verified before: returns a row unless the credential was revoked or
 * the account of its member was closed or recovered since.
 */
export function bearerHolds(credentialId: string): Sql {
  return sql`SELECT 1 AS holds FROM credentials c JOIN members m ON m.member_id = c.member_id
      AND m.state = 'active' AND m.key_epoch = c.key_epoch
    WHERE c.credential_id = ${credentialId} AND c.state <> 'revoked'`;
}

/** Expired credentials whose expiry the log does not record yet. */
export function overdueCredentials(
  limit: number,
): Sql<Pick<CredentialRow, 'credential_id' | 'member_id'>> {
  return sql`SELECT credential_id, member_id FROM credentials
    WHERE state = 'active' AND expires_at < 'infinity' AND expires_at <= statement_timestamp()
    ORDER BY expires_at LIMIT ${limit}`;
}

/** A credential that is valid now. */
export interface LiveCredentialRow {
  credential_id: string;
  member_id: string;
  handle: string;
  key_epoch: number;
  label: string | null;
  scopes: Scope[];
  created_at: Date;
  expires_at: Date;
  /** Whether this UTC day is recorded as the last day of use. */
  used_today: boolean;
  /** Writes of the member on this UTC day. */
  writes_today: number;
  /** Time of this read by the database's clock. */
  proven_at: Date;
}

/** An ended credential: `hash` is its verifier, or if `recorded` the hash that is kept of it. */
export interface EndedCredentialRow extends Verifier {
  credential_id: string;
  member_id: string;
  reason: EndReason;
  recorded: boolean;
}

/**
 * Reads credentials of active members that ended in the last 30 days, also those that expired and whose
 * expiry the log does not record yet.
 */
export function endedCredentials(credentialIds: readonly string[]): Sql<EndedCredentialRow> {
  return sql`SELECT e.credential_id, e.member_id,
      CASE WHEN m.disabled_until > clock_timestamp() THEN 'membership_disabled' ELSE e.reason END
        AS reason, e.key_id, e.hash, true AS recorded
    FROM ended_verifiers e JOIN members m ON m.member_id = e.member_id AND m.state = 'active'
    WHERE e.credential_id = ANY(${credentialIds}::uuid[])
      AND e.ended_at > clock_timestamp() - make_interval(days => ${REASON_DAYS}::int)
    UNION ALL
    SELECT c.credential_id, c.member_id,
      CASE WHEN m.disabled_until > clock_timestamp() THEN 'membership_disabled' ELSE 'expired' END,
      v.key_id, v.hash, false
    FROM credentials c
    JOIN members m ON m.member_id = c.member_id AND m.state = 'active'
    JOIN verifiers v ON v.owner_id = c.member_id AND v.purpose = 'credential'
      AND v.subject_id = c.credential_id
    WHERE c.credential_id = ANY(${credentialIds}::uuid[]) AND c.state = 'active'
      AND c.expires_at <= clock_timestamp()
      AND c.expires_at > clock_timestamp() - make_interval(days => ${REASON_DAYS}::int)`;
}

const holderByCredential = defineRead<{ member_id: string }>(
  { credential_id: 'uuid' },
  ({ credential_id }) => `SELECT c.member_id FROM credentials c
    JOIN members m ON m.member_id = c.member_id AND m.state = 'active' AND m.key_epoch = c.key_epoch
    WHERE c.credential_id = ${credential_id} AND c.state = 'active'
      AND c.expires_at > clock_timestamp()`,
);

/** Returns the member of a credential, if both are active by the database's clock. */
export const credentialHolder = (credentialId: string): Sql<{ member_id: string }> =>
  holderByCredential({ credential_id: credentialId });

/**
 * Reads credentials with their verifiers, if they and their members are active by the database's
 * clock. Subqueries, because a join planned while a table has few rows may read all of it for each
 * credential until the table is analyzed again.
 */
export function liveCredentials(
  credentialIds: readonly string[],
): Sql<LiveCredentialRow & Verifier> {
  return sql`SELECT c.credential_id, c.member_id, m.handle, c.key_epoch, c.label, c.scopes,
      c.created_at, c.expires_at, v.key_id, v.hash,
      coalesce((SELECT used FROM write_budgets b WHERE b.member_id = c.member_id
        AND b.day = (clock_timestamp() AT TIME ZONE 'UTC')::date), 0) AS writes_today,
      (SELECT last_used_on FROM credential_uses u WHERE u.member_id = c.member_id
        AND u.credential_id = c.credential_id) IS NOT DISTINCT FROM
        (clock_timestamp() AT TIME ZONE 'UTC')::date AS used_today,
      clock_timestamp() AS proven_at
    FROM credentials c
    JOIN members m ON m.member_id = c.member_id AND m.state = 'active' AND m.key_epoch = c.key_epoch
    JOIN verifiers v ON v.owner_id = c.member_id AND v.purpose = 'credential'
      AND v.subject_id = c.credential_id
    WHERE c.credential_id = ANY(${credentialIds}::uuid[]) AND c.state = 'active'
      AND c.expires_at > clock_timestamp()`;
}
