import { type CredentialRefusal, credential } from '../../domain/credentials/credential.ts';
import { type Append, readStream, streamVersion } from '../../platform/eventstore/append.ts';
import { replay } from '../../platform/eventstore/decider.ts';
import type { Actor } from '../../platform/eventstore/event.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { type ReceiptBody, unixSeconds } from '../../platform/http/schemas.ts';
import { endCredentialVerifiers } from '../../platform/keys/ended-verifiers.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { readVerifiers } from '../../platform/keys/verifiers.ts';
import { conflict, isRefusal } from '../../platform/refusal.ts';
import {
  activeCredentials,
  type CredentialRow,
  findCredential,
} from '../../projections/credentials/credentials.ts';
import type { CredentialBody } from './contract.ts';
import { defineMemberCommand, type MemberCommand } from './run-member-command.ts';

/**
 * Returns the append that revokes an active credential. The stream is at version 1: it holds only
 * the creation.
 */
export function revocation(
  memberId: string,
  credentialId: string,
  reason: NonNullable<CredentialRow['revoked_reason']>,
  actor: Actor,
): Append {
  const state = { status: 'active' as const, credentialId };
  const decided = credential.decide(state, { type: 'RevokeCredential', reason });
  if (isRefusal(decided)) throw new Error(`${credentialId}: an active credential not revoked`);
  return {
    owner: memberOwner(memberId),
    stream: `credential-${credentialId}`,
    version: 1,
    actor,
    events: decided,
  };
}

interface Revoked {
  status: 'revoked';
  credential: CredentialBody;
  receipt: ReceiptBody;
}

/**
 * Revokes a credential of the member. Another member's credential and an unknown id get the same
 * refusal.
 */
export function revokeCredential(
  keys: KeyRing,
  memberId: string,
  credentialId: string,
): MemberCommand<200, Revoked, CredentialRefusal> {
  const owner = memberOwner(memberId);
  const stream = `credential-${credentialId}`;
  return defineMemberCommand({
    load: {
      credentials: findCredential(credentialId),
      events: readStream(owner, stream),
      verifiers: readVerifiers(owner, 'credential'),
    },
    decide({ rows, now }) {
      const { events, verifiers } = rows;
      const [row] = rows.credentials;
      if (row?.member_id !== memberId) return conflict('credential_unavailable');
      // Expired, although the worker may not have recorded the expiry yet.
      const ended = row.state === 'active' && !row.unexpired;
      const decided = ended
        ? []
        : credential.decide(replay(credential, events), {
            type: 'RevokeCredential',
            reason: 'revoked',
          });
      if (isRefusal(decided)) return decided;
      const actor = { type: 'member' as const, id: memberId };
      return {
        status: 200,
        appends: [{ owner, stream, version: streamVersion(events), actor, events: decided }],
        rows: endCredentialVerifiers(keys, memberId, verifiers, [
          ended
            ? { credentialId, reason: 'expired', at: row.expires_at }
            : { credentialId, reason: 'revoked', at: now },
        ]),
        body: (receipt) => ({
          status: 'revoked',
          credential: credentialBody(
            decided.length > 0
              ? { ...row, state: 'revoked', revoked_at: now, revoked_reason: 'revoked' }
              : row,
          ),
          receipt,
        }),
      };
    },
  });
}

interface RevokedOthers {
  status: 'revoked';
  credentials: CredentialBody[];
  receipt: ReceiptBody;
}

/** Revokes every active credential of the member but the one of the request. */
export function revokeOthers(
  keys: KeyRing,
  memberId: string,
  currentId: string,
): MemberCommand<200, RevokedOthers, never> {
  return defineMemberCommand({
    load: {
      active: activeCredentials(memberId),
      verifiers: readVerifiers(memberOwner(memberId), 'credential'),
    },
    decide({ rows: { active, verifiers }, now }) {
      const others = active.filter(({ credential_id }) => credential_id !== currentId);
      const ids = others.map(({ credential_id }) => credential_id);
      const actor = { type: 'member' as const, id: memberId };
      return {
        status: 200,
        appends: ids.map((id) => revocation(memberId, id, 'revoked', actor)),
        rows: endCredentialVerifiers(
          keys,
          memberId,
          verifiers,
          ids.map((credentialId) => ({ credentialId, reason: 'revoked', at: now })),
        ),
        body: (receipt) => ({
          status: 'revoked',
          credentials: others.map((row) =>
            credentialBody({
              ...row,
              state: 'revoked',
              revoked_at: now,
              revoked_reason: 'revoked',
            }),
          ),
          receipt,
        }),
      };
    },
  });
}

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
