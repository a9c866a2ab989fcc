import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import type { NoteRow } from './notes.ts';

export type NoteToEnd = Pick<NoteRow, 'note_id' | 'version' | 'state'>;

/**
 * Reads a batch of a member's notes that are not erased, those that wait for review or are public
 * first; public notes only if `publicToo`.
 */
export function notesToEnd(memberId: string, publicToo: boolean, limit: number): Sql<NoteToEnd> {
  const inState = (state: NoteRow['state']) => `(SELECT note_id, version, state FROM notes
      WHERE member_id = $1 AND state = '${state}' AND erased_at IS NULL
      ORDER BY submitted_at DESC, note_id DESC LIMIT $2)`;
  const others = ['removed', 'rejected', 'withdrawn'] as const;
  const states = publicToo
    ? (['pending', 'approved', ...others] as const)
    : (['pending', ...others] as const);
  return named(`SELECT * FROM (${states.map(inState).join(' UNION ALL ')}) n LIMIT $2`, [
    memberId,
    limit,
  ]);
}

/**
 * Notes `among` these whose text outlives the account of a member: the member's own public notes. Also a note that
 * a guest wrote, or may yet write, with the member's id as its own id.
 */
export function keptNotes(
  memberId: string,
  among: readonly string[],
): Sql<{ note_id: string; own: boolean }> {
  return sql`SELECT note_id, true AS own FROM unnest(${among}::uuid[]) given (id)
      CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = given.id OFFSET 0) n
      WHERE member_id = ${memberId} AND message IS NOT NULL
    UNION ALL SELECT ${memberId}::uuid, false WHERE NOT EXISTS (
      SELECT FROM notes WHERE note_id = ${memberId} AND member_id = ${memberId})`;
}

export type ErasedNote = Pick<NoteOfMember, 'at' | 'note_id'>;

/** Reads a member's notes whose text was erased, oldest first, those after `last`. */
export function erasedNotes(
  memberId: string,
  last: ErasedNote | undefined,
  limit: number,
): Sql<ErasedNote> {
  return sql`SELECT note_id, submitted_at::text AS at FROM notes
    WHERE member_id = ${memberId} AND message IS NULL AND (submitted_at, note_id) >
      (${last?.at ?? START_OLDEST.at}::timestamptz, ${last?.note_id ?? START_OLDEST.id}::uuid)
    ORDER BY submitted_at, note_id LIMIT ${limit}`;
}

export interface NoteOfMember
  extends Pick<
    NoteRow,
    'note_id' | 'experience' | 'parent_id' | 'message' | 'state' | 'submitted_at' | 'approved_at'
  > {
  /** Why the note was rejected or removed. */
  decision: { policy: string; message: string | null } | null;
  /** `submitted_at` to the microsecond. */
  at: string;
}

/**
 * Reads a member's notes after `last`, oldest first, as the member may see them: within the undo
 * window a rejected note reads as pending, and a removed note has no reason.
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
      (${last?.at ?? START_OLDEST.at}::timestamptz, ${last?.note_id ?? START_OLDEST.id}::uuid)
    ORDER BY submitted_at, note_id LIMIT ${limit}`;
}
