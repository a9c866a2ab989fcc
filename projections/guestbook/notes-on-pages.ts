import { MAX_COUNTED } from '../../domain/publications/words.ts';
import type { KeysetPosition } from '../../platform/keyset-cursor.ts';
import { named, type Sql } from '../../platform/sql.ts';
import { noteStays } from '../membership/members.ts';
import { LISTED_NOTE, type PublicNoteRow, WRITTEN_AT } from './notes.ts';

/** Reads approved replies to a note, oldest approval first: `approvedReplies` from its other end. */
export function firstReplies(
  parentId: string,
  limit: number,
  { at, id }: KeysetPosition = { at: '-infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
): Sql<PublicNoteRow> {
  return named(
    `SELECT n.note_id, n.experience, n.attribution, n.parent_id, n.name, n.message, m.handle,
      ${WRITTEN_AT},
      to_char(n.approved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS approved
    FROM (SELECT note_id FROM notes
      WHERE state = 'approved' AND parent_id = $1 AND ${noteStays('member_id')}
        AND approved_at >= $2::timestamptz AND (approved_at > $2::timestamptz OR note_id < $3::uuid)
      ORDER BY approved_at, note_id DESC LIMIT $4) listed, ${LISTED_NOTE}
      LEFT JOIN members m ON m.member_id = n.member_id
    ORDER BY n.approved_at, n.note_id DESC`,
    [parentId, at, id, limit],
  );
}

/**
 * Reads who wrote some notes and whether they are replies. `characters` is the length of the text with
 * each run of white space as one character, as the activity has it.
 */
export function noteAuthors(noteIds: readonly string[]): Sql<
  Pick<PublicNoteRow, 'note_id' | 'attribution' | 'parent_id' | 'name' | 'handle'> & {
    characters: number;
  }
> {
  return named(
    `SELECT n.note_id, n.attribution, n.parent_id, n.name, m.handle,
      char_length(btrim(regexp_replace(n.message, '\\s+', ' ', 'g'))) AS characters
    FROM notes n LEFT JOIN members m ON m.member_id = n.member_id
    WHERE n.note_id IN (SELECT unnest($1::uuid[]))`,
    [noteIds],
  );
}

/**
 * Reads of some public notes what pages show beside them: the place in lists, and the number of public
 * replies up to `MAX_COUNTED`.
 */
export function listedNotes(
  noteIds: readonly string[],
): Sql<{ note_id: string; approved_at: Date; replies: number }> {
  return named(
    `SELECT note_id, approved_at, (SELECT count(*)::int FROM (SELECT FROM notes r
        WHERE r.state = 'approved' AND r.parent_id = n.note_id
          AND ${noteStays('r.member_id')} LIMIT ${MAX_COUNTED}) counted) AS replies
    FROM notes n WHERE state = 'approved' AND note_id IN (SELECT unnest($1::uuid[]))`,
    [noteIds],
  );
}
