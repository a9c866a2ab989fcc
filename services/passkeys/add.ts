import { randomUUID } from 'node:crypto';
import { conflict } from '../../domain/conflict.ts';
import { memberOwner } from '../../domain/owners.ts';
import { definePolicy, handle, type Policy } from '../../platform/eventstore/handle.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import { refuse } from '../../platform/refusal.ts';
import { findMember } from '../../projections/membership/members.ts';
import { readVerifiers } from '../../projections/membership/verifiers.ts';
import type { MembershipDeps } from '../membership/deps.ts';
import { findLiveSession } from '../membership/sessions.ts';
import { dropChallenge, lockChallenge } from './challenges.ts';
import {
  findPasskey,
  insertPasskey,
  MAX_PASSKEYS,
  type PasskeyRow,
  passkeysOf,
} from './passkeys.ts';
import type { verifyRegistration } from './verify.ts';

type Deps = Pick<MembershipDeps, 'store' | 'keys'>;

/** Proves a live session and the sign-in key, both under the member's lock. */
function bySessionAndKey(
  { keys }: Deps,
  { memberId, sessionId }: PrincipalOf<'session'>,
  signInKey: string,
): Policy<'session_required' | 'credentials_not_accepted', PasskeyRow, { keyEpoch: number }> {
  return definePolicy({
    actor: { type: 'member', id: memberId },
    lock: [memberId],
    load: {
      sessions: findLiveSession(sessionId),
      members: findMember(memberId),
      verifiers: readVerifiers(memberOwner(memberId), 'sign-in'),
    },
    prove({ sessions: [live], members: [member], verifiers: [verifier] }) {
      if (!live || !member) return refuse('session_required');
      return keys.verify('sign-in', memberId, signInKey, verifier)
        ? { keyEpoch: member.key_epoch }
        : refuse('credentials_not_accepted');
    },
  });
}

type Verified = NonNullable<Awaited<ReturnType<typeof verifyRegistration>>>;

/** Adds a passkey whose authenticator has answered a challenge of this session. */
export function addPasskey(
  deps: Deps,
  principal: PrincipalOf<'session'>,
  signInKey: string,
  { challenge, credentialId, publicKey, signCount }: Verified,
  { name, transports }: { name: string; transports: readonly string[] },
) {
  const { memberId, sessionId } = principal;
  const passkeyId = randomUUID();
  return handle(deps.store, bySessionAndKey(deps, principal, signInKey), {
    load: {
      challenges: lockChallenge({ purpose: 'add', holder: sessionId }, challenge),
      own: passkeysOf(memberId),
      known: findPasskey(credentialId),
    },
    decide({ challenges, own, known }, now, { keyEpoch }) {
      if (challenges.length === 0) return refuse('credentials_not_accepted');
      if (known.length > 0) return conflict('passkey_known');
      if (own.length >= MAX_PASSKEYS) return conflict('passkey_limit', { limit: MAX_PASSKEYS });
      return {
        appends: [
          {
            owner: memberOwner(memberId),
            stream: `passkey-${passkeyId}`,
            version: 0,
            events: [{ type: 'PasskeyAdded', data: { passkey_id: passkeyId }, personal: null }],
          },
        ],
        rows: [
          dropChallenge(challenge),
          insertPasskey({
            passkeyId,
            memberId,
            keyEpoch,
            credentialId,
            publicKey,
            signCount,
            transports,
            name,
            now,
          }),
        ],
        reply: () => ({ passkey_id: passkeyId, name, added_at: now, last_used_on: null }),
      };
    },
  });
}
