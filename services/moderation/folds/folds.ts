import type { FoldKind } from '../../../domain/moderation/words.ts';
import { locking, type Sql, sql } from '../../../platform/sql.ts';

/** What decides whether the note can be folded: whether it is a guest's, and what is known of it. */
export interface Foldable {
  is_guest: boolean;
  has_text: boolean;
  /** When its address came; null if it is not kept any more. */
  address_at: Date | null;
}

export function findFoldable(noteId: string): Sql<Foldable> {
  return sql`SELECT member_id IS NULL AS is_guest,
      EXISTS (SELECT FROM note_fingerprints f WHERE f.note_id = n.note_id) AS has_text,
      (SELECT submitted_at FROM note_addresses a WHERE a.note_id = n.note_id) AS address_at
    FROM notes n WHERE n.note_id = ${noteId}`;
}

/** Makes other commands on folds wait until the transaction ends. */
export const lockFolds = (): Sql =>
  locking(sql`SELECT pg_advisory_xact_lock(hashtext('note-folds'))`);

/** The folds that are not over, by kind and note. */
export function foldKeys(): Sql<{ kind: FoldKind; note_id: string }> {
  return sql`SELECT kind, note_id FROM note_folds WHERE ends_at > clock_timestamp()`;
}

export const dropEndedFolds = (): Sql =>
  sql`DELETE FROM note_folds WHERE ends_at <= clock_timestamp()`;

/** Folds notes, or changes the end of a fold, which a worker then compares with all waiting notes again. */
export function saveFold(kind: FoldKind, noteId: string, moderatorId: string, endsAt: Date): Sql {
  return sql`INSERT INTO note_folds (kind, note_id, moderator_id, folded_at, ends_at)
    VALUES (${kind}, ${noteId}, ${moderatorId}, clock_timestamp(), ${endsAt})
    ON CONFLICT (kind, note_id) DO UPDATE SET moderator_id = excluded.moderator_id,
      ends_at = excluded.ends_at, compared_at = DEFAULT, compared_id = DEFAULT`;
}

export function deleteFold(kind: FoldKind, noteId: string): Sql {
  return sql`DELETE FROM note_folds WHERE kind = ${kind} AND note_id = ${noteId}`;
}
