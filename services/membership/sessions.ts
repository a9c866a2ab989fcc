import type pg from 'pg';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import { createSessionCookie } from '../../platform/http/session-cookie.ts';
import type { KeyRing, Verifier } from '../../platform/keys/key-ring.ts';
import type { Token } from '../../platform/keys/token.ts';
import { defineInsert, defineRead } from '../../platform/postgres/batch-statements.ts';
import { query } from '../../platform/postgres/query.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import {
  type EndReason,
  REASON_DAYS,
  refuseEnded,
} from '../../projections/membership/ended-verifiers.ts';

export const SESSION_SECONDS = 1800;

export const {
  set: sessionCookie,
  clear: CLEAR_SESSION_COOKIE,
  read: presentedSession,
} = createSessionCookie('__Host-ServiceSession', SESSION_SECONDS);

export interface SessionRow extends Verifier {
  session_id: string;
  member_id: string;
  handle: string;
  expires_at: Date;
}

const liveSession = defineRead<SessionRow>(
  { session_id: 'uuid' },
  ({ session_id }) => `SELECT s.session_id, s.member_id, m.handle, s.expires_at, s.key_id, s.hash
    FROM (SELECT * FROM sessions WHERE session_id = ${session_id} OFFSET 0) s
    JOIN members m ON m.member_id = s.member_id
    WHERE s.ended_at IS NULL AND s.expires_at > clock_timestamp()
      AND s.key_epoch = m.key_epoch AND m.state = 'active'`,
);

/**
 * Finds a live session, by the database's clock, of an active member who has not recovered since.
 * `OFFSET 0` forces the primary key: a plan cached while few sessions are live would scan them all.
 */
export const findLiveSession = (sessionId: string): Sql<SessionRow> =>
  liveSession({ session_id: sessionId });

/** Why a session of an active member ended in the last 30 days. */
function findEndedSession(sessionId: string): Sql<Verifier & { reason: EndReason }> {
  return sql`SELECT s.key_id, s.hash,
      CASE WHEN m.disabled_until > clock_timestamp() THEN 'membership_disabled'
        WHEN s.ended_at < s.expires_at THEN 'revoked' ELSE 'expired' END AS reason
    FROM (SELECT * FROM sessions WHERE session_id = ${sessionId} OFFSET 0) s
    JOIN members m ON m.member_id = s.member_id AND m.state = 'active'
    WHERE (s.ended_at IS NOT NULL OR s.expires_at <= clock_timestamp())
      AND least(s.ended_at, s.expires_at)
        > clock_timestamp() - make_interval(days => ${REASON_DAYS}::int)`;
}

/** Finds the member of a session, even of one that has ended. */
export function memberOfSession(sessionId: string): Sql<{ member_id: string }> {
  return sql`SELECT member_id FROM sessions WHERE session_id = ${sessionId}`;
}

const sessionsOfMember = defineRead<{ session_id: string }>(
  { member_id: 'uuid' },
  ({ member_id }) =>
    `SELECT session_id FROM sessions WHERE member_id = ${member_id} AND ended_at IS NULL`,
);

/** A member's sessions that have no end in the log yet, including expired ones. */
export const liveSessions = (memberId: string): Sql<{ session_id: string }> =>
  sessionsOfMember({ member_id: memberId });

/**
 * Expired sessions that still need an end in the log. The condition on 'infinity' always holds; it
 * selects the index `sessions_expiry`.
 */
export function overdueSessions(limit: number): Sql<Pick<SessionRow, 'session_id' | 'member_id'>> {
  return sql`SELECT session_id, member_id FROM sessions
    WHERE ended_at IS NULL AND expires_at < 'infinity' AND expires_at <= statement_timestamp()
    ORDER BY expires_at LIMIT ${limit}`;
}

/** The most live sessions of a member; a further sign-in ends the oldest. */
export const MAX_LIVE_SESSIONS = 50;

/** Finds the live sessions of a member that a further one leaves no room for, newest first. */
export const surplusSessions = (memberId: string): Sql<{ session_id: string }> =>
  sql`SELECT session_id FROM sessions WHERE member_id = ${memberId}
    AND ended_at IS NULL AND expires_at > clock_timestamp()
    ORDER BY started_at DESC, session_id OFFSET ${MAX_LIVE_SESSIONS - 1} LIMIT 100`;

/** Deletes sessions that ended so many days ago; at most `limit`, and returns one row for each. */
export function dropEndedSessions(days: number, limit: number): Sql {
  return sql`DELETE FROM sessions WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM sessions
      WHERE ended_at < clock_timestamp() - make_interval(days => ${days}::int)
      ORDER BY ended_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING session_id`;
}

const addSession = defineInsert('sessions', {
  session_id: 'uuid',
  member_id: 'uuid',
  key_epoch: 'int',
  key_id: 'int',
  hash: 'text',
  started_at: 'timestamptz',
  expires_at: 'timestamptz',
});

export function insertSession(
  sessionId: string,
  memberId: string,
  keyEpoch: number,
  verifier: Verifier,
  startedAt: Date,
  expiresAt: Date,
): Sql {
  return addSession({
    session_id: sessionId,
    member_id: memberId,
    key_epoch: keyEpoch,
    key_id: verifier.key_id,
    hash: verifier.hash,
    started_at: startedAt,
    expires_at: expiresAt,
  });
}

export function endSessions(sessionIds: readonly string[], now: Date): Sql {
  return sql`UPDATE sessions SET ended_at = ${now} WHERE session_id = ANY(${sessionIds}::uuid[])`;
}

/** Ends every session, or those under one server key; the worker records that they expired. */
export function expireSessions(keyId: number | null = null): Sql {
  return sql`UPDATE sessions SET expires_at = clock_timestamp()
    WHERE ended_at IS NULL AND expires_at > clock_timestamp()
      AND key_id = coalesce(${keyId}::int, key_id)`;
}

export interface SessionTimes {
  session_id: string;
  started_at: Date;
  expires_at: Date;
  ended_at: Date | null;
}

/** Deletes at most `limit` sessions of a member and returns one row for each. */
export function dropSessions(memberId: string, limit: number): Sql {
  return sql`DELETE FROM sessions WHERE session_id IN (
    SELECT session_id FROM sessions WHERE member_id = ${memberId} LIMIT ${limit}) RETURNING 1`;
}

/** A keyset page of a member's sessions, ordered by id, without their verifiers. */
export function sessionsAfter(
  memberId: string,
  last: string | undefined,
  limit: number,
): Sql<SessionTimes> {
  return sql`SELECT session_id, started_at, expires_at, ended_at FROM sessions
    WHERE member_id = ${memberId}
      AND session_id > ${last ?? '00000000-0000-0000-0000-000000000000'}::uuid
    ORDER BY session_id LIMIT ${limit}`;
}

export function sessionVerifier(keys: KeyRing, token: Token): Verifier {
  return keys.mac('session', token.id, token.secret);
}

export function isSession(keys: KeyRing, token: Token, row: Verifier | undefined): boolean {
  return keys.verify('session', token.id, token.secret, row);
}

/** Authenticates the session cookie. It reads the database on every request and caches nothing. */
export function sessionAuthenticator(pool: pg.Pool, keys: KeyRing) {
  return async ({
    cookie,
  }: {
    cookie: string | undefined;
  }): Promise<PrincipalOf<'session'> | Refusal<'session_required'>> => {
    const token = presentedSession(cookie);
    if (!token) return refuse('session_required');
    const [row] = await query(pool, findLiveSession(token.id));
    if (!isSession(keys, token, row) || !row) {
      // The same read and hash for every session, known or not.
      const [ended] = await query(pool, findEndedSession(token.id));
      const reason = isSession(keys, token, ended) ? ended?.reason : undefined;
      return refuseEnded('session_required', 'session', reason);
    }
    return {
      kind: 'session',
      memberId: row.member_id,
      handle: row.handle,
      sessionId: row.session_id,
      expiresAt: row.expires_at,
    };
  };
}

/** Counts live sessions, which are at most 30 minutes old, by server key. */
export function countSessions(): Sql<{ key_id: number; count: number }> {
  return sql`SELECT key_id, count(*)::int AS count FROM sessions
    WHERE ended_at IS NULL AND expires_at < 'infinity' AND expires_at > clock_timestamp()
    GROUP BY key_id`;
}
