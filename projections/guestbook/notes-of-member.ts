import { type DependentLoad, loadAfter } from '../../platform/eventstore/load.ts';
import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { NoteRow } from './notes.ts';

export type NoteToEnd = Pick<NoteRow, 'note_id' | 'version' | 'state'>;

/**
 * Reads a batch of a member's notes that are not erased, without the public notes unless
 * `publicToo`.
 */
export function notesToEnd(memberId: string, publicToo: boolean, limit: number): Sql<NoteToEnd> {
  return sql`SELECT note_id, version, state FROM notes
    WHERE member_id = ${memberId} AND erased_at IS NULL AND (state <> 'approved' OR ${publicToo})
    ORDER BY submitted_at, note_id LIMIT ${limit}`;
}

/**
 * Reads which withdrawn notes of such a batch have no `NoteWithdrawn` event: this read model
 * withdraws all notes of a closed account before their events follow. A note that is withdrawn
 * meanwhile has its event.
 */
export function notesWithdrawnEarly(
  memberId: string,
  limit: number,
): DependentLoad<Sql<Pick<NoteRow, 'note_id'>>> {
  const withdrawn = sql<Pick<NoteRow, 'note_id'>>`SELECT note_id FROM notes
    WHERE member_id = ${memberId} AND erased_at IS NULL AND state = 'withdrawn'
    ORDER BY submitted_at, note_id LIMIT ${limit}`;
  return loadAfter(withdrawn, (notes) => {
    const ids = notes.map(({ note_id }) => note_id);
    return sql`SELECT note_id FROM unnest(${ids}::uuid[]) note_id WHERE NOT EXISTS (
      SELECT FROM events WHERE owner_id = ${memberId}::uuid AND stream_id = 'note-' || note_id
        AND type = 'NoteWithdrawn')`;
  });
}

/**
 * Notes whose text outlives the account of a member: the member's own public notes, and a note that
 * a guest wrote, or may yet write, with the member's id as its own id.
 */
export function keptNotes(memberId: string): Sql<{ note_id: string; own: boolean }> {
  return sql`SELECT note_id, true AS own FROM notes
      WHERE member_id = ${memberId} AND message IS NOT NULL
    UNION ALL SELECT ${memberId}::uuid, false WHERE NOT EXISTS (
      SELECT FROM notes WHERE note_id = ${memberId} AND member_id = ${memberId})`;
}

/** Reads a member's notes whose text was erased, ordered by id. */
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
