import { conflict } from '../../domain/conflict.ts';
import { credential } from '../../domain/credentials/credential.ts';
import { memberOwner } from '../../domain/owners.ts';
import { type Append, attribute } from '../../platform/eventstore/append.ts';
import type { Actor } from '../../platform/eventstore/event.ts';
import { derive } from '../../platform/eventstore/load.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { type CredentialRow, findCredential } from '../../projections/credentials/credentials.ts';

export const credentialStreams = defineStream('credential', credential);

/**
 * Loads a credential of the member. Another member's credential and an unknown id get the same
 * refusal.
 */
export const loadOwnCredential = (memberId: string, credentialId: string) =>
  derive(
    {
      rows: findCredential(credentialId),
      stream: credentialStreams.load(memberOwner(memberId), credentialId),
    },
    ({ rows: [row], stream }) =>
      row?.member_id === memberId ? { row, ...stream } : conflict('credential_unavailable'),
  );

/** Revokes an active credential. Its stream is at version 1: it holds only the creation. */
export function revocation(
  memberId: string,
  credentialId: string,
  reason: NonNullable<CredentialRow['revoked_reason']>,
  actor: Actor,
): Append[] {
  const state = { status: 'active' as const, credentialId };
  const active = credentialStreams.at(memberOwner(memberId), credentialId, 1, state);
  const revoked = active.decide({ type: 'RevokeCredential', reason });
  if (isRefusal(revoked)) throw new Error(`${credentialId}: an active credential not revoked`);
  return attribute(revoked.appends, actor);
}
