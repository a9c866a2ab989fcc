import { memberOwner } from '../../domain/owners.ts';
import { handle, type Policy } from '../../platform/eventstore/handle.ts';
import type { ReplyOf } from '../../platform/http/route.ts';
import { type ReceiptBody, unixSeconds } from '../../platform/http/schemas.ts';
import { isRefusal } from '../../platform/refusal.ts';
import {
  activeCredentials,
  type CredentialRow,
} from '../../projections/credentials/credentials.ts';
import { endCredentialVerifiers } from '../../projections/membership/ended-verifiers.ts';
import { readVerifiers } from '../../projections/membership/verifiers.ts';
import type { MemberDeps } from './by-bearer.ts';
import type { CredentialBody, credentialsContract } from './contract.ts';
import { loadOwnCredential, revocation } from './credential-stream.ts';

type RevocationPolicy<Code extends string> = Policy<
  Code,
  ReplyOf<(typeof credentialsContract)['credential.revoke']>,
  null,
  ReceiptBody
>;

/** Revokes a credential of the member; one that has ended is returned unchanged. */
export function revokeCredential<Code extends string>(
  { store, keys }: MemberDeps,
  policy: RevocationPolicy<Code>,
  memberId: string,
  credentialId: string,
) {
  return handle(store, policy, {
    load: {
      own: loadOwnCredential(memberId, credentialId),
      verifiers: readVerifiers(memberOwner(memberId), 'credential'),
    },
    decide({ own, verifiers }, now) {
      const { row } = own;
      // Expired, although the worker may not have recorded the expiry yet.
      const expired = row.state === 'active' && !row.unexpired;
      const revoked = expired
        ? own.append([])
        : own.decide({ type: 'RevokeCredential', reason: 'revoked' });
      if (isRefusal(revoked)) return revoked;
      const changed = revoked.appends.length > 0;
      return {
        ...revoked,
        rows: endCredentialVerifiers(keys, memberId, verifiers, [
          expired
            ? { credentialId, reason: 'expired', at: row.expires_at }
            : { credentialId, reason: 'revoked', at: now },
        ]),
        reply: (receipt) => ({
          status: 200 as const,
          body: {
            status: 'revoked' as const,
            credential: credentialBody(changed ? revokedAt(row, now) : row),
            receipt,
          },
        }),
      };
    },
  });
}

/** Revokes every active credential of the member but the one of the request. */
export function revokeOthers<Code extends string>(
  { store, keys }: MemberDeps,
  policy: RevocationPolicy<Code>,
  memberId: string,
  currentId: string,
) {
  return handle(store, policy, {
    load: {
      active: activeCredentials(memberId),
      verifiers: readVerifiers(memberOwner(memberId), 'credential'),
    },
    decide({ active, verifiers }, now) {
      const others = active.filter(({ credential_id }) => credential_id !== currentId);
      const ids = others.map(({ credential_id }) => credential_id);
      return {
        appends: ids.flatMap((id) => revocation(memberId, id, 'revoked', policy.actor)),
        rows: endCredentialVerifiers(
          keys,
          memberId,
          verifiers,
          ids.map((credentialId) => ({ credentialId, reason: 'revoked', at: now })),
        ),
        reply: (receipt) => ({
          status: 200 as const,
          body: {
            status: 'revoked' as const,
            credentials: others.map((row) => credentialBody(revokedAt(row, now))),
            receipt,
          },
        }),
      };
    },
  });
}

const revokedAt = (row: CredentialRow, now: Date): CredentialRow => ({
  ...row,
  state: 'revoked',
  revoked_at: now,
  revoked_reason: 'revoked',
});

/**
 * Converts a credential to its API representation. An expired credential is shown as expired even
 * before the worker records the expiry.
 */
export function credentialBody(row: CredentialRow): CredentialBody {
  return {
    credential_id: row.credential_id,
    member_id: row.member_id,
    ...(row.label === null ? {} : { label: row.label }),
    scopes: [...row.scopes].sort(),
    state: row.state === 'active' && !row.unexpired ? 'expired' : row.state,
    created_at: row.created_at.toISOString(),
    expires_at: unixSeconds(row.expires_at),
    ...(row.last_used_on === null ? {} : { last_used_on: row.last_used_on }),
    ...(row.revoked_at ? { revoked_at: row.revoked_at.toISOString() } : {}),
    ...(row.revoked_reason ? { revoked_reason: row.revoked_reason } : {}),
  };
}
