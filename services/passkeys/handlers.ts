import type { Logger } from 'pino';
import type { Config } from '../../platform/config.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { newToken } from '../../platform/keys/token.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { isMemberKey } from '../../projections/membership/verifiers.ts';
import { byLiveSession } from '../membership/by-session.ts';
import { KEY_ATTEMPTS } from '../membership/contract.ts';
import type { MembershipDeps } from '../membership/deps.ts';
import { presentedSession, sessionCookie } from '../membership/sessions.ts';
import { addPasskey } from './add.ts';
import {
  CHALLENGE_SECONDS,
  type ChallengeHolder,
  newChallenge,
  relyingParty,
  storeChallenge,
} from './challenges.ts';
import { passkeyBody } from './closure-and-export.ts';
import { PASSKEY_CHALLENGES, passkeysContract } from './contract.ts';
import { remove, rename } from './own-passkeys.ts';
import { findPasskey, passkeysOf } from './passkeys.ts';
import { signInWithPasskey } from './sign-in.ts';
import { ALGORITHMS, userHandle, verifyAssertion, verifyRegistration, webauthn } from './verify.ts';

export interface PasskeysDeps extends Pick<MembershipDeps, 'store' | 'keys' | 'limits'> {
  config: Pick<Config, 'baseUrl' | 'siteName'>;
  logger: Logger;
}

const OFF = refuse('api_disabled', {
  message: 'Passkeys need a host name, and https or localhost.',
});

function passkeysHandlers(deps: PasskeysDeps): Handlers<typeof passkeysContract> {
  const { store, keys, limits, config, logger } = deps;
  const party = relyingParty(config.baseUrl);
  const timeout = CHALLENGE_SECONDS * 1000;

  /** Stores a challenge; the library, which its answer needs, loads while the person is asked. */
  async function challengeFor(holder: ChallengeHolder) {
    const challenge = newChallenge();
    const [stored] = await query(store.pool, storeChallenge(holder, challenge));
    if (!stored) throw new Error('the challenge was not stored');
    setImmediate(() => void webauthn().catch(() => undefined));
    return { challenge, expires_at: stored.expires_at.toISOString() };
  }

  const holderOf = (address: string) => keys.mac('address', 'address', address).hash;

  return {
    'passkey.list': async ({ principal }) => ({
      status: 200,
      body: {
        status: 'ok',
        passkeys: (await query(store.pool, passkeysOf(principal.memberId))).map(passkeyBody),
      },
    }),

    'passkey.challenge': (call) =>
      limits.within(call, [PASSKEY_CHALLENGES], async () => {
        if (!party) return OFF;
        const { memberId, sessionId, handle: name } = call.principal;
        const known = await query(store.pool, passkeysOf(memberId));
        const { challenge, expires_at } = await challengeFor({ purpose: 'add', holder: sessionId });
        return {
          status: 200 as const,
          body: {
            status: 'ok' as const,
            expires_at,
            options: {
              challenge,
              rp: { id: party.id, name: config.siteName },
              user: { id: userHandle(memberId), name, displayName: name },
              pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
              timeout,
              excludeCredentials: known.map(({ credential_id: id, transports }) => ({
                type: 'public-key' as const,
                id,
                transports,
              })),
              authenticatorSelection: {
                residentKey: 'required' as const,
                requireResidentKey: true as const,
                userVerification: 'required' as const,
              },
              attestation: 'none' as const,
            },
          },
        };
      }),

    'passkey.add': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        if (!party) return OFF;
        const { principal } = call;
        const { name, sign_in_key, credential } = call.body;
        const proofs = { pool: store.pool, keys };
        if (!(await isMemberKey(proofs, principal.memberId, 'sign-in', sign_in_key)))
          return refuse('credentials_not_accepted');
        const verified = await verifyRegistration(party, credential);
        if (!verified) return NOT_ACCEPTED;
        const { transports = [] } = credential.response;
        const added = await addPasskey(deps, principal, sign_in_key, verified, {
          name,
          transports,
        });
        if (isRefusal(added)) return added;
        return {
          status: 200 as const,
          body: { status: 'added' as const, passkey: passkeyBody(added) },
        };
      }),

    'passkey.rename': ({ principal, body: { passkey_id, name } }) =>
      handle(store, byLiveSession(principal), rename(principal.memberId, passkey_id, name)),

    'passkey.remove': ({ principal, body }) =>
      handle(store, byLiveSession(principal), remove(principal.memberId, body.passkey_id)),

    'passkey.sign_in_challenge': (call) =>
      limits.within(call, [PASSKEY_CHALLENGES], async () => {
        if (!party) return OFF;
        const holder = holderOf(call.request.address);
        const { challenge, expires_at } = await challengeFor({ purpose: 'sign-in', holder });
        return {
          status: 200 as const,
          body: {
            status: 'ok' as const,
            expires_at,
            options: {
              challenge,
              rpId: party.id,
              timeout,
              userVerification: 'required' as const,
            },
          },
        };
      }),

    'passkey.sign_in': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        if (!party) return OFF;
        const { credential } = call.body;
        const [passkey] = await query(store.pool, findPasskey(credential.id));
        // The same work for an unknown passkey.
        const verified = await verifyAssertion(party, credential, passkey?.public_key);
        const isOwn = passkey && credential.response.userHandle === userHandle(passkey.member_id);
        if (!passkey || !verified || !isOwn) return NOT_ACCEPTED;
        const token = newToken();
        const answered = { passkey, holder: holderOf(call.request.address), ...verified };
        const before = presentedSession(call.request.cookie);
        const answer = await signInWithPasskey(deps, answered, token, before);
        if (isRefusal(answer)) return NOT_ACCEPTED;
        if ('copied' in answer) {
          const { member_id: member } = passkey;
          const line = { member, passkey: answer.copied, event: 'passkey_copied' };
          logger.warn(line, 'security');
          return NOT_ACCEPTED;
        }
        return {
          status: 200 as const,
          body: answer,
          headers: { 'set-cookie': sessionCookie(token) },
        };
      }),
  };
}

/** One refusal for every reason: no such passkey, another origin, a challenge that was answered before. */
const NOT_ACCEPTED = refuse('credentials_not_accepted', {
  message: 'The passkey is not accepted.',
});

export const routes = (deps: PasskeysDeps): readonly Routes[] => [
  implement(passkeysContract, passkeysHandlers(deps)),
];
