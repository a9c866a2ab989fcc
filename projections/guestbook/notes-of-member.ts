import { type KeysetPosition, START_NEWEST, START_OLDEST } from '../../platform/keyset-cursor.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { noteStays } from '../membership/members.ts';
import { type StandingRow, standingOn } from './note-decisions.ts';
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
  return named(
    `SELECT note_id, experience, parent_id, message,
      CASE WHEN untold AND state = 'rejected' THEN 'pending' ELSE state END AS state, decision,
      submitted_at, approved_at, submitted_at::text AS at
    FROM notes n
    CROSS JOIN LATERAL (SELECT settled_at + make_interval(secs => $1) > now()
      AS untold) told
    LEFT JOIN LATERAL (
      SELECT jsonb_build_object('policy', d.policy, 'message', d.message) AS decision
      FROM ${standingOn('n.note_id')}
    ) standing ON state IN ('rejected', 'removed') AND NOT untold
    WHERE member_id = $2 AND (submitted_at, note_id) > ($3::timestamptz, $4::uuid)
    ORDER BY submitted_at, note_id LIMIT $5`,
    [undoSeconds, memberId, last?.at ?? START_OLDEST.at, last?.note_id ?? START_OLDEST.id, limit],
  );
}

/** A note for its author, who may not know all of it yet. */
export type OwnNoteRow = Pick<
  NoteRow,
  | 'note_id'
  | 'experience'
  | 'parent_id'
  | 'message'
  | 'state'
  | 'submitted_at'
  | 'approved_at'
  | 'settled_at'
  | 'appeal'
  | 'erased_at'
  | 'corrections'
> & {
  now: Date;
  /** `submitted_at` in a cursor. */
  place: string;
  /** The decision in force; null without one. */
  standing: Pick<StandingRow, 'decision' | 'policy' | 'message'> | null;
};

/**
 * Reads a page of a member's notes, newest first. An appeal reads as open within the undo window of its
 * answer.
 */
export function ownNotesPage(
  memberId: string,
  limit: number,
  after: KeysetPosition = START_NEWEST,
  undoSeconds: number,
): Sql<OwnNoteRow> {
  return named(
    `SELECT n.note_id, n.experience, n.parent_id, n.message, n.state, n.submitted_at,
      n.approved_at, n.settled_at, n.erased_at, n.corrections, clock_timestamp() AS now,
      CASE WHEN n.appeal = 'upheld' AND (SELECT max(a.decided_at) FROM note_appeals a
          WHERE a.note_id = n.note_id AND a.state = 'upheld') + make_interval(secs => $5) > now()
        THEN 'open' ELSE n.appeal END AS appeal,
      to_char(n.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place,
      (SELECT jsonb_build_object('decision', d.decision, 'policy', d.policy, 'message', d.message)
        FROM ${standingOn('n.note_id')}) AS standing
    FROM notes n
    WHERE n.member_id = $1::uuid AND n.submitted_at <= $2::timestamptz
      AND (n.submitted_at < $2::timestamptz OR n.note_id > $3::uuid)
    ORDER BY n.submitted_at DESC, n.note_id LIMIT $4`,
    [memberId, after.at, after.id, limit, undoSeconds],
  );
}

/** Reads the public notes of a member that became public last, the last one first. */
export function latestNotesOfMember(memberId: string, limit: number): Sql<MemberNoteRow> {
  return named(
    `SELECT n.note_id, n.message, n.parent_id, n.submitted_at,
      greatest(n.settled_at, p.settled_at) AS public_since
    FROM notes n LEFT JOIN notes p ON p.note_id = n.parent_id
    WHERE n.member_id = $1 AND n.state = 'approved' AND ${noteStays('$1::uuid')}
      AND (n.parent_id IS NULL OR p.state = 'approved' AND ${noteStays('p.member_id')})
    ORDER BY n.settled_at DESC, n.note_id LIMIT $2`,
    [memberId, limit],
  );
}

export interface MemberNoteRow {
  note_id: string;
  message: string | null;
  parent_id: string | null;
  submitted_at: Date;
  public_since: Date;
}
