import type { IncomingMessage } from 'node:http';
import type { Role } from '../../../domain/permissions.ts';
import { createSessionCookie } from '../../../platform/http/session-cookie.ts';
import type { Verifier } from '../../../platform/keys/key-ring.ts';
import { type Sql, sql } from '../../../platform/sql.ts';

const MAX_SECONDS = 86_400;

/** The cookie of a moderator's browser session. */
export const MODERATOR_COOKIE = '__Host-ServiceModerator';

/** Whether a request has the form of a moderator's, which anyone can give it. */
export const seemsModerated = (
  { headers: { authorization = '', cookie = '' } }: IncomingMessage,
  path: string,
): boolean =>
  path.startsWith('/api/moderation/') &&
  (/^bearer mod_/i.test(authorization) || cookie.includes(MODERATOR_COOKIE));

export const {
  set: moderatorCookie,
  clear: CLEAR_MODERATOR_COOKIE,
  read: presentedModeratorSession,
} = createSessionCookie(MODERATOR_COOKIE, MAX_SECONDS);

export interface ModeratorSessionRow extends Verifier {
  session_id: string;
  moderator_id: string;
  name: string | null;
  role: Role;
  /** Whether the last use is over a minute ago, and so worth a write. */
  stale: boolean;
}

/** Finds the session of an active moderator, if it is live by the database's clock. */
export function findLiveModeratorSession(sessionId: string): Sql<ModeratorSessionRow> {
  return sql`SELECT s.session_id, s.moderator_id, s.key_id, s.hash, m.name, m.role,
      s.seen_at < clock_timestamp() - interval '1 minute' AS stale
    FROM moderator_sessions s JOIN moderators m USING (moderator_id)
    WHERE s.session_id = ${sessionId}::uuid AND m.state = 'active'
      AND s.expires_at > clock_timestamp()
      AND s.seen_at > clock_timestamp() - interval '8 hours'`;
}

export function touchModeratorSession(sessionId: string): Sql {
  return sql`UPDATE moderator_sessions SET seen_at = clock_timestamp()
    FROM set_config('synchronous_commit', 'off', true)
    WHERE session_id = ${sessionId} AND seen_at < clock_timestamp() - interval '1 minute'`;
}

export function insertModeratorSession(
  sessionId: string,
  moderatorId: string,
  verifier: Verifier,
  now: Date,
): Sql {
  return sql`INSERT INTO moderator_sessions
      (session_id, moderator_id, key_id, hash, started_at, seen_at, expires_at)
    VALUES (${sessionId}, ${moderatorId}, ${verifier.key_id}, ${verifier.hash}, ${now}, ${now},
      ${sessionExpiry(now)})`;
}

export const sessionExpiry = (startedAt: Date): Date =>
  new Date(startedAt.getTime() + MAX_SECONDS * 1000);

export function dropModeratorSession(sessionId: string): Sql {
  return sql`DELETE FROM moderator_sessions WHERE session_id = ${sessionId}`;
}

export function dropDeadModeratorSessions(moderatorId: string): Sql {
  return sql`DELETE FROM moderator_sessions WHERE moderator_id = ${moderatorId}
    AND (expires_at <= clock_timestamp() OR seen_at <= clock_timestamp() - interval '8 hours')`;
}

export function dropModeratorSessions(moderatorId: string): Sql {
  return sql`DELETE FROM moderator_sessions WHERE moderator_id = ${moderatorId}`;
}

/** Ends the sessions of all moderators. */
export function dropEveryModeratorSession(): Sql {
  return sql`DELETE FROM moderator_sessions`;
}

export function releaseAllLeases(moderatorId: string): Sql {
  return sql`DELETE FROM note_leases WHERE moderator_id = ${moderatorId}`;
}
