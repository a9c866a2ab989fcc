import type { Handlers, RequestContext } from '../../platform/http/route.ts';
import { memberBody, unixSeconds } from '../../platform/http/schemas.ts';
import { onceCommand } from '../../platform/idempotent-calls.ts';
import { newToken } from '../../platform/keys/token.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { exhausted } from '../../platform/limits/rate-headers.ts';
import type { Limit } from '../../platform/limits/rate-limits.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import type { membershipContract } from './contract.ts';
import type { MembershipDeps } from './deps.ts';
import { loginCommand, logoutCommand } from './login.ts';
import {
  liveSessionsPage,
  revokeOtherSessions,
  revokeSession,
  sessionBody,
} from './own-sessions.ts';
import { recoverCommand } from './recover.ts';
import { registerCommand } from './register.ts';
import {
  CLEAR_SESSION_COOKIE,
  inSession,
  presentedSession,
  sessionAuthenticator,
  sessionCookie,
} from './sessions.ts';

export function membershipHandlers(deps: MembershipDeps): Handlers<typeof membershipContract> {
  const { store, keys, limits, config } = deps;
  // New members are counted by the command, which refuses one too many.
  const registrations: Limit = {
    kind: 'registration',
    window: '1 day',
    limit: config.limitRegistrationsPerDay,
  };
  const authenticate = sessionAuthenticator(store.pool, keys);

  /**
   * Counts an attempt with keys against one limit that register, login and recover share. A
   * malformed body is rejected before the handler and is not counted.
   */
  const attempt = <const Result extends object>(
    request: RequestContext,
    work: () => Promise<Result>,
  ) =>
    limits.within(
      request.address,
      [{ kind: 'keys', window: '10 minutes', limit: config.limitKeyAttempts }],
      work,
    );

  return {
    'membership.register': ({ body, request }) =>
      attempt(request, async () => {
        const answer = await store.execute(registerCommand(deps, body, request.address));
        if (!isRefusal(answer)) return { status: 200, body: answer };
        return answer.refused === 'rate_limited'
          ? { ...answer, ...exhausted([registrations], registrations) }
          : answer;
      }),

    'membership.login': ({ body, request }) =>
      attempt(request, async () => {
        const token = newToken();
        const before = presentedSession(request.cookie);
        const answer = await store.execute(loginCommand(deps, body, token, before));
        if (isRefusal(answer)) return answer;
        return { status: 200, body: answer, headers: { 'set-cookie': sessionCookie(token) } };
      }),

    'membership.recover': ({ body, request }) =>
      attempt(request, async () => {
        const answer = await store.execute(recoverCommand(deps, body));
        return isRefusal(answer) ? answer : { status: 200, body: answer };
      }),

    'membership.logout': async ({ request }) => {
      const token = presentedSession(request.cookie);
      if (token) await store.execute(logoutCommand(deps, token));
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
      const revoked = await store.execute(inSession(sessionId, onceCommand(call, command, 200)));
      if (isRefusal(revoked)) return revoked;
      const { answer: sessions, headers } = revoked;
      const clear = sessions.some(({ current }) => current)
        ? { 'set-cookie': CLEAR_SESSION_COOKIE }
        : {};
      return {
        status: 200,
        body: { status: 'revoked', sessions },
        headers: { ...headers, ...clear },
      };
    },
  };
}
