import type { FoldKind } from '../../../domain/moderation/words.ts';
import { locking, named, type Sql, sql } from '../../../platform/sql.ts';
import { HAS_MARK, IS_LIVE_FOLD, MARKED_FOLDS } from '../../../projections/screening/fold-marks.ts';

/** SQL: whether the note `n` is not deferred to a time that has not come. */
export const DUE = '(n.deferred_until IS NULL OR n.deferred_until <= clock_timestamp())';

/** The most folds at a time: each costs every read of the queue a lookup. */
export const MAX_FOLDS = 10;
/** The most notes that are counted in the row of a fold. */
export const MAX_FOLDED = 250;

export interface FoldRow {
  kind: FoldKind;
  note_id: string;
  moderator_id: string;
  moderator_name: string | null;
  ends_at: Date;
  /** The oldest waiting note, which represents the others; null if none waits. */
  first_id: string | null;
  notes: number;
}

/** SQL: the notes in the row of the fold `f`, the oldest first. Escalated and deferred notes, and members', never are. */
const waitingIn = (most: number): string => `SELECT n.note_id, n.submitted_at FROM notes n
  WHERE ${HAS_MARK} AND n.fold_id = f.fold_id AND ${DUE}
  ORDER BY n.submitted_at, n.note_id LIMIT ${most}`;

/** The folds that are not over, each with the note that represents the others. */
export function liveFolds(): Sql<FoldRow> {
  return named(`SELECT f.kind, f.note_id, f.moderator_id, m.name AS moderator_name, f.ends_at,
      waiting.first_id, waiting.notes
    FROM note_folds f LEFT JOIN moderators m USING (moderator_id)
    CROSS JOIN LATERAL (
      SELECT (array_agg(note_id ORDER BY submitted_at, note_id))[1] AS first_id,
        count(*)::int AS notes FROM (${waitingIn(MAX_FOLDED)}) counted) waiting
    WHERE ${IS_LIVE_FOLD} ORDER BY f.folded_at, f.note_id, f.kind LIMIT ${MAX_FOLDS}`);
}

/** SQL of the common table expressions that `ownRows` reads. */
export const FOLD_TABLES = `${MARKED_FOLDS},
  firsts AS MATERIALIZED (SELECT first.note_id FROM live_folds f CROSS JOIN LATERAL (${waitingIn(1)}) first)`;

/**
 * SQL of the lists that together have each note of `todo` that has a row: notes without a mark, the note that represents
 * those of a fold, and the notes of folds that are over, whose marks are not taken yet. `list` gives the SQL of the notes
 * `n` that meet its conditions.
 */
export function ownRows(
  bothTiers: boolean,
  list: (conditions: readonly string[]) => string,
): string[] {
  const ofEach = (table: string, condition: string) =>
    `SELECT listed.* FROM ${table} f CROSS JOIN LATERAL (${list([`n.tier = 'normal'`, condition])}) listed`;
  return [
    ...(bothTiers ? [list([`n.tier = 'lead'`])] : []),
    list([`n.tier = 'normal'`, 'n.fold_id IS NULL']),
    ofEach('firsts', 'n.note_id = f.note_id'),
    ofEach('ended_folds', 'n.fold_id = f.fold_id'),
  ];
}

/** SQL: whether the note `n` has a row, as in `ownRows`. */
export const HAS_OWN_ROW = `(n.tier = 'lead' OR n.fold_id IS NULL OR n.note_id IN (SELECT note_id FROM firsts)
  OR n.fold_id NOT IN (SELECT fold_id FROM live_folds))`;

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
