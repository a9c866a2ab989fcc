import { definePolicy, handle, type Policy } from '../../platform/eventstore/handle.ts';
import type { Token } from '../../platform/keys/token.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import { findMember } from '../../projections/membership/members.ts';
import type { MembershipDeps } from '../membership/deps.ts';
import { openSession, type SignedIn } from '../membership/login.ts';
import { dropChallenge, lockChallenge } from './challenges.ts';
import { countUse, dropPasskeys, endPasskey, findPasskey, type PasskeyKey } from './passkeys.ts';

/** A passkey that was verified, with the challenge that it answered and its counter. */
interface Answered {
  passkey: PasskeyKey;
  holder: string;
  challenge: string;
  signCount: number;
}

/** The counter went back: there is a copy of the passkey, which has ended. Refused like any other. */
export interface Copied {
  copied: string;
}

/**
 * Proves a passkey under the member's lock: the challenge waits, the passkey is still there and of the
 * member's key epoch. A recovery, a deletion or a disabling raises that, which ends every passkey.
 */
function byPasskey({
  passkey,
  holder,
  challenge,
}: Answered): Policy<'credentials_not_accepted', SignedIn | Copied, PasskeyKey> {
  const { member_id: memberId, credential_id: credentialId, passkey_id: passkeyId } = passkey;
  return definePolicy({
    actor: { type: 'member', id: memberId },
    lock: [memberId],
    load: {
      challenges: lockChallenge({ purpose: 'sign-in', holder }, challenge),
      members: findMember(memberId),
      passkeys: findPasskey(credentialId),
    },
    prove({
      challenges,
      members: [member],
      passkeys: [current],
    }): PasskeyKey | Refusal<'credentials_not_accepted'> {
      const lives =
        current?.passkey_id === passkeyId &&
        member?.state === 'active' &&
        !member.disabled &&
        member.key_epoch === current.key_epoch;
      return challenges.length > 0 && lives ? current : refuse('credentials_not_accepted');
    },
  });
}

/** Signs a member in with a passkey and ends the session of the cookie that was sent (`before`). */
export function signInWithPasskey(
  { store, keys }: Pick<MembershipDeps, 'store' | 'keys'>,
  answered: Answered,
  token: Token,
  before: Token | undefined,
): Promise<SignedIn | Copied | Refusal<'credentials_not_accepted'>> {
  const { passkey, challenge, signCount } = answered;
  const { member_id: memberId, passkey_id: passkeyId } = passkey;
  const opening = openSession(keys, memberId, token, before);
  return handle(store, byPasskey(answered), {
    ...opening.reads,
    decide(loaded, now, { key_epoch, sign_count: last }) {
      // Authenticators without a counter always send 0.
      if ((signCount > 0 || last > 0) && signCount <= last)
        return {
          appends: [endPasskey(memberId, passkeyId, 'copied')],
          rows: [dropChallenge(challenge), dropPasskeys([passkeyId])],
          reply: (): SignedIn | Copied => ({ copied: passkeyId }),
        };
      const { appends, rows, reply } = opening.decide(loaded, now, key_epoch);
      return {
        appends,
        rows: [...rows, dropChallenge(challenge), countUse(passkeyId, signCount)],
        reply,
      };
    },
  });
}
