import { OLDEST } from '../../platform/keyset-cursor.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { NoteRow } from './notes.ts';

export interface NoteToEnd extends Pick<NoteRow, 'note_id' | 'version'> {
  /** By its own stream it waits, or is public, still. */
  open: boolean;
}

/** A member's notes that are not erased, a batch of them; without the public ones where they stay. */
export function notesToEnd(memberId: string, publicToo: boolean, limit: number): Sql<NoteToEnd> {
  return sql`SELECT note_id, version, state IN ('pending', 'approved') OR (state = 'withdrawn'
      AND (SELECT e.type FROM events e WHERE e.owner_id = n.owner_id
        AND e.stream_id = 'note-' || n.note_id AND e.stream_version = n.version) <> 'NoteWithdrawn') AS open
    FROM notes n
    WHERE member_id = ${memberId} AND erased_at IS NULL AND (state <> 'approved' OR ${publicToo})
    ORDER BY submitted_at, note_id LIMIT ${limit}`;
}

/**
 * Notes whose text stays though a member goes: the member's own that are public, and whatever a guest
 * wrote, or comes to write, under the member's id.
 */
export function keptNotes(memberId: string): Sql<{ note_id: string }> {
  return sql`SELECT note_id FROM notes WHERE member_id = ${memberId} AND message IS NOT NULL
    UNION ALL SELECT ${memberId}::uuid WHERE NOT EXISTS (
      SELECT FROM notes WHERE note_id = ${memberId} AND member_id = ${memberId})`;
}

/** Notes of a member whose text has gone, in the order of their ids. */
export function erasedNotes(
  memberId: string,
  after: string,
  limit: number,
): Sql<{ note_id: string }> {
  return sql`SELECT note_id FROM notes WHERE member_id = ${memberId} AND message IS NULL
    AND note_id > coalesce(nullif(${after}, ''), '00000000-0000-0000-0000-000000000000')::uuid
    ORDER BY note_id LIMIT ${limit}`;
}

export interface NoteOfMember
  extends Pick<
    NoteRow,
    'note_id' | 'experience' | 'parent_id' | 'message' | 'state' | 'submitted_at' | 'approved_at'
  > {
  /** Why it was rejected or removed. */
  decision: { policy: string; message: string | null } | null;
  /** `submitted_at` to the microsecond. */
  at: string;
}

/**
 * Notes of a member after one of them, the oldest first, as the member may know them: rejected ones
 * are pending until nobody may undo that any more, and of a removal the reason is told then.
 */
export function notesOfMember(
  memberId: string,
  last: Pick<NoteOfMember, 'at' | 'note_id'> | undefined,
  limit: number,
  undoSeconds: number,
): Sql<NoteOfMember> {
  return sql`SELECT note_id, experience, parent_id, message,
      CASE WHEN untold AND state = 'rejected' THEN 'pending' ELSE state END AS state, decision,
      submitted_at, approved_at, submitted_at::text AS at
    FROM notes n
    CROSS JOIN LATERAL (SELECT settled_at + make_interval(secs => ${undoSeconds}) > now()
      AS untold) told
    LEFT JOIN LATERAL (
      SELECT jsonb_build_object('policy', policy, 'message', message) AS decision
      FROM note_decisions d WHERE d.note_id = n.note_id AND undone_at IS NULL
        AND decision NOT IN ('kept', 'upheld', 'deferred', 'escalated') ORDER BY decided_at DESC, event_id DESC LIMIT 1
    ) standing ON state IN ('rejected', 'removed') AND NOT untold
    WHERE member_id = ${memberId} AND (submitted_at, note_id) >
      (${last?.at ?? OLDEST.at}::timestamptz, ${last?.note_id ?? OLDEST.id}::uuid)
    ORDER BY submitted_at, note_id LIMIT ${limit}`;
}
