import type { SessionEnd } from '../../domain/membership/words.ts';
import { memberOwner } from '../../domain/owners.ts';
import { definePolicy, handle, type Policy } from '../../platform/eventstore/handle.ts';
import { unixSeconds } from '../../platform/http/schemas.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { Token } from '../../platform/keys/token.ts';
import { refuse } from '../../platform/refusal.ts';
import { MEMBERSHIP_DISABLED } from '../../projections/membership/ended-verifiers.ts';
import { findMember } from '../../projections/membership/members.ts';
import {
  readVerifiers,
  renewVerifier,
  type VerifierRow,
} from '../../projections/membership/verifiers.ts';
import type { MembershipDeps } from './deps.ts';
import {
  endSessions,
  findLiveSession,
  insertSession,
  isSession,
  memberOfSession,
  SESSION_SECONDS,
  type SessionRow,
  sessionVerifier,
  surplusSessions,
} from './sessions.ts';

/**
 * Proves the sign-in key. An unknown id, a wrong key and a deactivated member get the same refusal after
 * the same work, to hide the cause.
 */
function bySignIn(
  keys: KeyRing,
  { id, sign_in_key }: MemberKey,
): Policy<'credentials_not_accepted', SignedIn, Proven> {
  const owner = memberOwner(id);
  return definePolicy({
    actor: { type: 'member', id },
    lock: [id],
    load: { members: findMember(id), verifiers: readVerifiers(owner, 'sign-in') },
    prove({ members: [row], verifiers: [verifier] }) {
      const proven = keys.verify('sign-in', id, sign_in_key, verifier);
      if (!proven || row?.state !== 'active') return refuse('credentials_not_accepted');
      if (row.disabled) return refuse('credentials_not_accepted', MEMBERSHIP_DISABLED);
      return { keyEpoch: row.key_epoch, verifier };
    },
  });
}

export interface SignedIn {
  status: 'signed_in';
  id: string;
  expires_at: number;
}

interface Proven {
  keyEpoch: number;
  verifier: VerifierRow | undefined;
}

export interface MemberKey {
  id: string;
  sign_in_key: string;
}

/** Signs a member in and ends the session of the cookie that was sent (`before`). */
export function signIn(
  { store, keys }: Pick<MembershipDeps, 'store' | 'keys'>,
  body: MemberKey,
  token: Token,
  before: Token | undefined,
) {
  const opening = openSession(keys, body.id, token, before);
  return handle(store, bySignIn(keys, body), {
    ...opening.reads,
    decide(loaded, now, { keyEpoch, verifier }) {
      const { appends, rows, reply } = opening.decide(loaded, now, keyEpoch);
      const renewed = renewVerifier(keys, memberOwner(body.id), body.sign_in_key, verifier);
      return { appends, rows: [...rows, ...renewed], reply };
    },
  });
}

/**
 * What opens a session of a member, however that is proven. It takes the place of the session of the cookie
 * that was sent, and of the oldest ones of too many.
 */
export function openSession(
  keys: KeyRing,
  memberId: string,
  token: Token,
  before: Token | undefined,
) {
  const reads = {
    ...(before ? { find: memberOfSession(before.id) } : {}),
    load: {
      sessions: findLiveSession(before?.id ?? token.id),
      surplus: surplusSessions(memberId),
    },
  };

  function decide(
    {
      sessions: [old],
      surplus: beyond,
    }: { sessions: readonly SessionRow[]; surplus: readonly { session_id: string }[] },
    now: Date,
    keyEpoch: number,
  ) {
    const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000);
    const replaced = before && old && isSession(keys, before, old) ? old : undefined;
    const surplus = beyond
      .map(({ session_id }) => session_id)
      .filter((sessionId) => sessionId !== replaced?.session_id);
    const ended = [...surplus, ...(replaced ? [replaced.session_id] : [])];
    return {
      appends: [
        ...(replaced ? [endSession(replaced.member_id, replaced.session_id, 'replaced')] : []),
        ...surplus.map((sessionId) => endSession(memberId, sessionId, 'replaced')),
        {
          owner: memberOwner(memberId),
          stream: `session-${token.id}`,
          version: 0,
          events: [
            {
              type: 'SessionStarted',
              data: { session_id: token.id, expires_at: expiresAt.toISOString() },
              personal: null,
            },
          ],
        },
      ],
      rows: [
        ...(ended.length > 0 ? [endSessions(ended, now)] : []),
        insertSession(token.id, memberId, keyEpoch, sessionVerifier(keys, token), now, expiresAt),
      ],
      reply: (): SignedIn => ({
        status: 'signed_in',
        id: memberId,
        expires_at: unixSeconds(expiresAt),
      }),
    };
  }

  return { reads, decide };
}

/** Returns the append that ends a session. The stream is at version 1: it holds only the start. */
export function endSession(memberId: string, sessionId: string, reason: SessionEnd) {
  const byService = reason === 'expired';
  return {
    owner: memberOwner(memberId),
    stream: `session-${sessionId}`,
    version: 1,
    actor: byService ? { type: 'service' as const } : { type: 'member' as const, id: memberId },
    events: [{ type: 'SessionEnded', data: { session_id: sessionId, reason }, personal: null }],
  };
}

/** Ends the session of the cookie, if it is live; the cookie is the proof. */
export function signOut({ store, keys }: MembershipDeps, token: Token) {
  return handle(store, SERVICE, {
    find: memberOfSession(token.id),
    load: { sessions: findLiveSession(token.id) },
    decide({ sessions: [row] }, now) {
      if (!row || !isSession(keys, token, row)) return { appends: [], reply: () => null };
      return {
        appends: [endSession(row.member_id, row.session_id, 'signed_out')],
        rows: [endSessions([row.session_id], now)],
        reply: () => null,
      };
    },
  });
}

const SERVICE = { type: 'service' as const };
