import { conflict } from '../../domain/conflict.ts';
import { type Accepted, type Command, defineCommand } from '../../platform/eventstore/handle.ts';
import { unixSeconds } from '../../platform/http/schemas.ts';
import { type KeysetPosition, START_NEWEST } from '../../platform/keyset-cursor.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { endSession } from './login.ts';
import { endSessions, type SessionTimes } from './sessions.ts';

export type SessionBody = ReturnType<typeof sessionBody>;

/** Converts a session to its API representation; `currentId` is the session of the request. */
export const sessionBody = (row: SessionTimes, currentId: string) => ({
  ...exportedSession(row),
  current: row.session_id === currentId,
});

/** Converts a session to its representation in an export, where no session is the current one. */
export function exportedSession({ session_id, started_at, expires_at, ended_at }: SessionTimes) {
  return {
    id: session_id,
    started_at: started_at.toISOString(),
    expires_at: unixSeconds(expires_at),
    ended_at: ended_at?.toISOString() ?? null,
  };
}

/** Reads a page of a member's live sessions, newest first; `place` is the start in a cursor. */
export function liveSessionsPage(
  memberId: string,
  limit: number,
  after: KeysetPosition = START_NEWEST,
): Sql<SessionTimes & { place: string }> {
  return sql`SELECT session_id, started_at, expires_at, ended_at,
      to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM sessions WHERE member_id = ${memberId}::uuid
      AND ended_at IS NULL AND expires_at > clock_timestamp()
      AND started_at <= ${after.at}::timestamptz
      AND (started_at < ${after.at}::timestamptz OR session_id > ${after.id}::uuid)
    ORDER BY started_at DESC, session_id LIMIT ${limit}`;
}

/** Finds a session of a member by its key, whether it is live or not. */
function findOwnSession(
  memberId: string,
  sessionId: string,
): Sql<SessionTimes & { live: boolean }> {
  return sql`SELECT session_id, started_at, expires_at, ended_at,
      ended_at IS NULL AND expires_at > clock_timestamp() AS live
    FROM sessions WHERE session_id = ${sessionId} AND member_id = ${memberId}`;
}

/** Reads a member's live sessions but one, newest first. */
function otherSessions(memberId: string, sessionId: string): Sql<SessionTimes> {
  return sql`SELECT session_id, started_at, expires_at, ended_at FROM sessions
    WHERE member_id = ${memberId} AND session_id <> ${sessionId}
      AND ended_at IS NULL AND expires_at > clock_timestamp()
    ORDER BY started_at DESC, session_id`;
}

interface Revoked {
  status: 200;
  body: { status: 'revoked'; sessions: SessionBody[] };
}

/**
 * Revokes a session of the member and returns it; one that has ended is returned unchanged. Another
 * member's session and an unknown id get the same refusal.
 */
export function revokeSession(
  memberId: string,
  sessionId: string,
  currentId: string,
): Command<Revoked, 'state_conflict'> {
  return defineCommand({
    load: { sessions: findOwnSession(memberId, sessionId) },
    decide({ sessions: [row] }, now) {
      if (!row) return conflict('session_unavailable');
      return row.live
        ? revocation(memberId, [row], currentId, now)
        : { appends: [], reply: () => revoked([sessionBody(row, currentId)]) };
    },
    ...RECEIPT,
  });
}

/** Revokes every live session of the member but one, and returns the revoked ones. */
export function revokeOtherSessions(memberId: string, currentId: string): Command<Revoked> {
  return defineCommand({
    load: { sessions: otherSessions(memberId, currentId) },
    decide: ({ sessions }, now) => revocation(memberId, sessions, currentId, now),
    ...RECEIPT,
  });
}

/** The receipts of a revocation have the sessions alone. */
const RECEIPT = {
  store: ({ body }: Revoked) => body.sessions,
  restore: ({ body }: { body: unknown }) => revoked(body as SessionBody[]),
};

const revoked = (sessions: SessionBody[]): Revoked => ({
  status: 200,
  body: { status: 'revoked', sessions },
});

function revocation(
  memberId: string,
  live: readonly SessionTimes[],
  currentId: string,
  now: Date,
): Accepted<Revoked> {
  const ids = live.map(({ session_id }) => session_id);
  return {
    appends: ids.map((id) => endSession(memberId, id, 'revoked')),
    rows: ids.length > 0 ? [endSessions(ids, now)] : [],
    reply: () => revoked(live.map((row) => sessionBody({ ...row, ended_at: now }, currentId))),
  };
}
