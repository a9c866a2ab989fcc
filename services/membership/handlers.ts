import { randomUUID } from 'node:crypto';
import { memberOwner } from '../../domain/owners.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { hasReceipt } from '../../platform/eventstore/idempotency.ts';
import {
  type Handlers,
  implement,
  type RequestContext,
  type Routes,
} from '../../platform/http/route.ts';
import { unixSeconds } from '../../platform/http/schemas.ts';
import { newToken } from '../../platform/keys/token.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { exhausted } from '../../platform/limits/rate-headers.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { findMemberByHandle } from '../../projections/membership/members.ts';
import { isMemberKey } from '../../projections/membership/verifiers.ts';
import { RECEIPT_SPACES } from '../receipt-spaces.ts';
import { bySession } from './by-session.ts';
import { KEY_ATTEMPTS, memberBody, membershipContract, REGISTRATIONS } from './contract.ts';
import type { MembershipDeps } from './deps.ts';
import { type MemberKey, signIn, signOut } from './login.ts';
import {
  liveSessionsPage,
  revokeOtherSessions,
  revokeSession,
  sessionBody,
} from './own-sessions.ts';
import { recoverMember } from './recover.ts';
import { registerMember } from './register.ts';
import {
  CLEAR_SESSION_COOKIE,
  presentedSession,
  sessionAuthenticator,
  sessionCookie,
} from './sessions.ts';

function membershipHandlers(deps: MembershipDeps): Handlers<typeof membershipContract> {
  const { store, keys, limits } = deps;
  const proofs = { pool: store.pool, keys };
  const authenticate = sessionAuthenticator(store.pool, keys);
  const registrations = limits.toLimit(REGISTRATIONS);

  /** Opens a session with the sign-in key, in place of that of the cookie. */
  async function openSession(proof: MemberKey, { cookie }: Pick<RequestContext, 'cookie'>) {
    if (!(await isMemberKey(proofs, proof.id, 'sign-in', proof.sign_in_key)))
      return refuse('credentials_not_accepted');
    const token = newToken();
    const answer = await signIn(deps, proof, token, presentedSession(cookie));
    if (isRefusal(answer)) return answer;
    return { status: 200 as const, body: answer, headers: { 'set-cookie': sessionCookie(token) } };
  }

  return {
    'membership.register': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        const answer = await registerMember(deps, call);
        return isRefusal(answer) && answer.refused === 'rate_limited'
          ? { ...answer, ...exhausted([registrations], registrations) }
          : answer;
      }),

    'membership.login': (call) =>
      limits.within(call, [KEY_ATTEMPTS], () => openSession(call.body, call.request)),

    'membership.sign_in': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        const { handle: name, sign_in_key } = call.body;
        const [found] = await query(store.pool, findMemberByHandle(name));
        // An unknown handle goes on with an unknown id, for the same work as with a wrong key.
        const id = found?.member_id ?? randomUUID();
        const answer = await openSession({ id, sign_in_key }, call.request);
        // Only where the key verifies. The routes of a disabled member take the id.
        return isRefusal(answer) && answer.details?.reason === 'membership_disabled'
          ? { ...answer, details: { ...answer.details, member_id: id } }
          : answer;
      }),

    'membership.recover': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        const { id, recovery_key, operation_id } = call.body;
        const isProven = await isMemberKey(proofs, id, 'recovery', recovery_key);
        // A recovery replaces the key that proves it, so a repeat is known by its receipt. Read afterwards,
        // because both change in one commit.
        const isRepeat = await hasReceipt(
          store.pool,
          memberOwner(id),
          RECEIPT_SPACES.recover,
          operation_id,
        );
        if (!isProven && !isRepeat) return refuse('credentials_not_accepted');
        return recoverMember(deps, call.body);
      }),

    'membership.logout': async ({ request }) => {
      const token = presentedSession(request.cookie);
      if (token) await signOut(deps, token);
      return {
        status: 200,
        body: { status: 'signed_out' },
        headers: { 'set-cookie': CLEAR_SESSION_COOKIE },
      };
    },

    'membership.me': async ({ request }) => {
      const session = await authenticate(request);
      if (isRefusal(session))
        return { ...session, headers: { 'set-cookie': CLEAR_SESSION_COOKIE } };
      return {
        status: 200,
        body: {
          status: 'ok',
          id: session.memberId,
          expires_at: unixSeconds(session.expiresAt),
          member: memberBody(session.memberId, session.handle),
        },
      };
    },

    'membership.sessions': async ({ principal, query: { cursor, limit } }) => {
      const place = toKeysetPosition('sessions', cursor);
      if (isRefusal(place)) return place;
      const { memberId, sessionId } = principal;
      const rows = await query(store.pool, liveSessionsPage(memberId, limit + 1, place));
      const page = toPage('sessions', rows, limit, (last) => ({
        at: last.place,
        id: last.session_id,
      }));
      return {
        status: 200,
        body: {
          status: 'ok',
          sessions: page.rows.map((row) => sessionBody(row, sessionId)),
          ...page.next,
        },
      };
    },

    'membership.revoke_sessions': async (call) => {
      const { memberId, sessionId } = call.principal;
      const command =
        'all_others' in call.body
          ? revokeOtherSessions(memberId, sessionId)
          : revokeSession(memberId, call.body.session_id, sessionId);
      const revoked = await handle(store, bySession(keys, call), command);
      if (isRefusal(revoked) || !('body' in revoked)) return revoked;
      const clear = revoked.body.sessions.some(({ current }) => current)
        ? { 'set-cookie': CLEAR_SESSION_COOKIE }
        : {};
      return { ...revoked, headers: { ...revoked.headers, ...clear } };
    },
  };
}

export const routes = (deps: MembershipDeps): readonly Routes[] => [
  implement(membershipContract, membershipHandlers(deps)),
];
