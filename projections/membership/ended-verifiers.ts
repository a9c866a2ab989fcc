import type { KeyRing, Verifier } from '../../platform/keys/key-ring.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { dropCredentialVerifier, type VerifierRow } from './verifiers.ts';

/** For so many days after the end of a secret, an answer to it says why it is not accepted. */
export const REASON_DAYS = 30;

/**
 * Why a secret that verifies is not accepted. Rotation, recovery and signing out are `revoked`. While the
 * membership is disabled, that is the reason for each of its secrets.
 */
export const END_REASONS = ['expired', 'revoked', 'membership_disabled'] as const;
export type EndReason = (typeof END_REASONS)[number];

const keepVerifier = defineInsert(
  'ended_verifiers',
  {
    credential_id: 'uuid',
    member_id: 'uuid',
    reason: 'text',
    ended_at: 'timestamptz',
    key_id: 'int',
    hash: 'text',
  },
  { key: ['credential_id'], conflict: 'DO NOTHING' },
);

/**
 * Ends a member's credentials for authentication: `verifiers` are those of the member, of which the given
 * credentials lose theirs. A hash of each is kept, so that the answer to the secret can say the reason.
 */
export function endCredentialVerifiers(
  keys: KeyRing,
  memberId: string,
  verifiers: readonly VerifierRow[],
  ended: readonly { credentialId: string; reason: EndReason; at: Date }[],
): Sql[] {
  return ended.flatMap(({ credentialId, reason, at }) => {
    const stored = verifiers.find(({ subject_id }) => subject_id === credentialId);
    if (!stored) return [];
    // Without its server key the verifier cannot be hashed, nor the secret be verified again.
    const kept = keys.ids.includes(stored.key_id)
      ? [
          keepVerifier({
            credential_id: credentialId,
            member_id: memberId,
            reason,
            ended_at: at,
            ...endedVerifier(keys, credentialId, stored),
          }),
        ]
      : [];
    return [dropCredentialVerifier(memberId, credentialId), ...kept];
  });
}

/** The hash of a credential's verifier that is kept after its end. It is no verifier of the secret. */
export const endedVerifier = (keys: KeyRing, credentialId: string, { key_id, hash }: Verifier) =>
  keys.mac('ended-credential', credentialId, hash, key_id);

/** Deletes what is kept of ended credentials after `REASON_DAYS`; at most `limit`, and returns one row for each. */
export function dropOldEndedVerifiers(limit: number): Sql {
  return sql`DELETE FROM ended_verifiers WHERE credential_id = ANY(ARRAY(
      SELECT credential_id FROM ended_verifiers
      WHERE ended_at < clock_timestamp() - make_interval(days => ${REASON_DAYS}::int)
      ORDER BY ended_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING 1`;
}

/** Deletes what is kept of a member's ended credentials; at most `limit`, and returns one row for each. */
export function dropEndedVerifiers(memberId: string, limit: number): Sql {
  return sql`DELETE FROM ended_verifiers WHERE credential_id = ANY(ARRAY(
      SELECT credential_id FROM ended_verifiers WHERE member_id = ${memberId} LIMIT ${limit}))
    RETURNING 1`;
}

/** Deletes what is kept under a server key. */
export function dropEndedVerifiersUnder(keyId: number): Sql {
  return sql`DELETE FROM ended_verifiers WHERE key_id = ${keyId}`;
}

/** The details of a 401 for a key or secret of a disabled membership; sent only where it verifies. */
export const MEMBERSHIP_DISABLED = {
  reason: 'membership_disabled',
  message:
    'The membership is disabled. POST /api/membership/disabled says why, and what you can do.',
} as const;

/** Refuses a secret that verifies but has ended, with the reason; any other without. */
export function refuseEnded<const Code extends string>(
  code: Code,
  noun: 'credential' | 'session',
  reason: EndReason | undefined,
): Refusal<Code> {
  if (!reason) return refuse(code);
  if (reason === 'membership_disabled') return refuse(code, MEMBERSHIP_DISABLED);
  const how = reason === 'expired' ? 'has expired' : 'was revoked';
  return refuse(code, { reason, message: `The ${noun} ${how}.` });
}
