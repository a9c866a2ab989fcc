import type { SessionEnd } from '../../domain/membership/session-end.ts';
import { type Command, defineCommand } from '../../platform/eventstore/event-store.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { unixSeconds } from '../../platform/http/schemas.ts';
import { MEMBERSHIP_DISABLED } from '../../platform/keys/ended-verifiers.ts';
import type { Token } from '../../platform/keys/token.ts';
import { readVerifiers, renewVerifier } from '../../platform/keys/verifiers.ts';
import { refuse } from '../../platform/refusal.ts';
import { findMember } from '../../projections/membership/members.ts';
import type { MembershipDeps } from './deps.ts';
import {
  endSessions,
  findLiveSession,
  insertSession,
  isSession,
  memberOfSession,
  SESSION_SECONDS,
  sessionVerifier,
  surplusSessions,
} from './sessions.ts';

export interface SignedIn {
  status: 'signed_in';
  id: string;
  expires_at: number;
}

/**
 * Signs a member in and ends the session of the cookie that was sent (`before`). An unknown id, a
 * wrong key and a deactivated member get the same refusal after the same work, to hide the cause.
 */
export function loginCommand(
  { keys }: MembershipDeps,
  body: { id: string; sign_in_key: string },
  token: Token,
  before: Token | undefined,
): Command<SignedIn, 'credentials_not_accepted'> {
  const { id } = body;
  return defineCommand({
    lock: [id],
    ...(before ? { find: memberOfSession(before.id) } : {}),
    load: {
      members: findMember(id),
      verifiers: readVerifiers(memberOwner(id), 'sign-in'),
      sessions: findLiveSession(before?.id ?? token.id),
      surplus: surplusSessions(id),
    },
    decide({ rows, now }) {
      const [row] = rows.members;
      const [verifier] = rows.verifiers;
      const [old] = rows.sessions;
      const proven = keys.verify('sign-in', id, body.sign_in_key, verifier);
      if (!proven || row?.state !== 'active') return refuse('credentials_not_accepted');
      if (row.disabled) return refuse('credentials_not_accepted', MEMBERSHIP_DISABLED);
      const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000);
      const replaced = before && old && isSession(keys, before, old) ? old : undefined;
      const surplus = rows.surplus
        .map(({ session_id }) => session_id)
        .filter((sessionId) => sessionId !== replaced?.session_id);
      const ended = [...surplus, ...(replaced ? [replaced.session_id] : [])];
      return {
        answer: { status: 'signed_in', id, expires_at: unixSeconds(expiresAt) },
        appends: [
          ...(replaced ? [endSession(replaced.member_id, replaced.session_id, 'replaced')] : []),
          ...surplus.map((sessionId) => endSession(id, sessionId, 'replaced')),
          {
            owner: memberOwner(id),
            stream: `session-${token.id}`,
            version: 0,
            actor: { type: 'member', id },
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
          ...renewVerifier(keys, memberOwner(id), body.sign_in_key, verifier),
          insertSession(token.id, id, row.key_epoch, sessionVerifier(keys, token), now, expiresAt),
        ],
      };
    },
  });
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

/** Ends the session of the cookie, if it is live. */
export function logoutCommand({ keys }: MembershipDeps, token: Token): Command<null> {
  return defineCommand({
    find: memberOfSession(token.id),
    load: findLiveSession(token.id),
    decide({ rows: [row], now }) {
      if (!row || !isSession(keys, token, row)) return { unchanged: null };
      return {
        answer: null,
        appends: [endSession(row.member_id, row.session_id, 'signed_out')],
        rows: [endSessions([row.session_id], now)],
      };
    },
  });
}
