import { conflict } from '../../domain/conflict.ts';
import { memberOwner } from '../../domain/owners.ts';
import { definePolicy, type Policy } from '../../platform/eventstore/handle.ts';
import type { ReplyOf, Route } from '../../platform/http/route.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import { findMember, type MemberRow } from '../../projections/membership/members.ts';
import { readVerifiers, type VerifierRow } from '../../projections/membership/verifiers.ts';

export interface MemberKey {
  id: string;
  sign_in_key: string;
}

/** What proves that the caller is a disabled member. */
export const readProof = (id: string) => ({
  members: findMember(id),
  verifiers: readVerifiers(memberOwner(id), 'sign-in'),
});

/**
 * Proves that the caller is a member whose membership is disabled. An unknown id, a wrong key and a deleted
 * member get the same refusal after the same work; a member who is not disabled gets another.
 */
export function refuseUnlessDisabled(
  keys: KeyRing,
  { id, sign_in_key }: MemberKey,
  {
    members: [member],
    verifiers: [verifier],
  }: { members: readonly MemberRow[]; verifiers: readonly VerifierRow[] },
): Refusal<'credentials_not_accepted' | 'state_conflict'> | null {
  const proven = keys.verify('sign-in', id, sign_in_key, verifier);
  if (!proven || member?.state !== 'active') return refuse('credentials_not_accepted');
  return member.disabled ? null : conflict('wrong_state');
}

/** A disabled member who proves the sign-in key, as no session or credential is left to prove. */
export function byDisabledMember<R extends Route>(
  keys: KeyRing,
  { body: key }: { route: R; body: MemberKey },
): Policy<'credentials_not_accepted' | 'state_conflict', ReplyOf<R>, { handle: string | null }> {
  return definePolicy({
    actor: { type: 'member', id: key.id },
    lock: [key.id],
    load: readProof(key.id),
    prove: (proof) =>
      refuseUnlessDisabled(keys, key, proof) ?? { handle: proof.members[0]?.handle ?? null },
  });
}
