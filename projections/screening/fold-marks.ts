import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';

/** The most notes that one statement compares with the folds. */
export const FOLD_BATCH = 1000;

/** SQL: whether the fold `f` is not over. It ends with its time, and when its note loses what the others are compared with. */
export const IS_LIVE_FOLD = `f.ends_at > clock_timestamp() AND CASE f.kind
    WHEN 'text' THEN (SELECT true FROM note_fingerprints WHERE note_id = f.note_id LIMIT 1)
    ELSE (SELECT true FROM note_addresses WHERE note_id = f.note_id LIMIT 1) END`;

/** SQL: the newest notes that share at least half of the fingerprint of the note `id`. */
const alike = (id: string, most: number): string => `SELECT near.note_id
  FROM note_fingerprints own CROSS JOIN LATERAL (SELECT note_id FROM note_fingerprints
    WHERE hash BETWEEN own.hash AND own.hash
    ORDER BY hash DESC, screened_at DESC, note_id DESC LIMIT ${most}) near
  WHERE own.note_id = ${id} GROUP BY near.note_id
  HAVING 2 * count(*) >= (SELECT count(*) FROM note_fingerprints WHERE note_id = ${id})`;

/** SQL: the ids of notes with the text of a note, and of those that nearly have it. */
export const likeNote = (id: string, most: number): string =>
  `SELECT note_id FROM (${alike(id, most)}) alike LIMIT ${most}`;

/** SQL: the ids of the newest notes from the address of the note `id`. */
const fromAddress = (id: string, most: number): string => `SELECT note_id FROM note_addresses
  WHERE bucket = (SELECT bucket FROM note_addresses WHERE note_id = ${id})
  ORDER BY submitted_at DESC LIMIT ${most}`;

/**
 * SQL: marks the guests' notes in `ids` with the oldest fold that they belong to, and takes the mark of a fold that is
 * over from the others. Leaves the mark of a fold that is not over.
 */
const joining = (ids: string): string => `WITH live AS MATERIALIZED (
      SELECT f.fold_id, f.folded_at,
        ARRAY(SELECT hash FROM note_fingerprints WHERE f.kind = 'text' AND note_id = f.note_id) AS hashes,
        (SELECT bucket FROM note_addresses WHERE f.kind = 'address' AND note_id = f.note_id) AS bucket
      FROM note_folds f WHERE ${IS_LIVE_FOLD}),
    given AS MATERIALIZED (
      SELECT n.note_id, n.fold_id FROM (${ids}) asked
        CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = asked.note_id OFFSET 0) n
      WHERE n.member_id IS NULL AND (n.fold_id IS NOT NULL OR (SELECT true FROM live LIMIT 1))
        AND (n.fold_id IS NULL OR n.fold_id NOT IN (SELECT fold_id FROM live))),
    found AS MATERIALIZED (
      SELECT given.note_id, given.fold_id AS former, (SELECT live.fold_id FROM live
          WHERE live.bucket = own.bucket OR cardinality(live.hashes) > 0
            AND 2 * (SELECT count(*) FROM unnest(live.hashes) hash WHERE hash = ANY (own.hashes))
              >= cardinality(live.hashes)
          ORDER BY live.folded_at, live.fold_id LIMIT 1) AS fold_id
      FROM given CROSS JOIN LATERAL (SELECT
        ARRAY(SELECT hash FROM note_fingerprints WHERE note_id = given.note_id) AS hashes,
        (SELECT bucket FROM note_addresses WHERE note_id = given.note_id) AS bucket OFFSET 0) own
      ORDER BY given.note_id)
    UPDATE notes n SET fold_id = found.fold_id FROM found
    WHERE n.note_id = found.note_id AND found.fold_id IS DISTINCT FROM found.former
    RETURNING n.note_id`;

/** Marks these notes with the folds that they belong to, and takes marks of folds that are over; returns the changed. */
export function joinFolds(noteIds: readonly string[]): Sql<{ note_id: string }> {
  return named(joining('SELECT unnest($1::uuid[]) AS note_id'), [noteIds]);
}

/** Marks the newest notes that are like a note, or came from its address, when these are folded. */
export function joinNewest(kind: 'text' | 'address', noteId: string): Sql<{ note_id: string }> {
  const ids = kind === 'text' ? likeNote('$1', FOLD_BATCH) : fromAddress('$1', FOLD_BATCH);
  return named(joining(ids), [noteId]);
}

/** SQL: whether the note `n` waits in the row of a fold, or did until the fold was over. */
export const HAS_MARK = `n.state = 'pending' AND n.tier = 'normal' AND n.fold_id IS NOT NULL`;

/** Reads waiting notes with the mark of a fold that is over. One step of the index finds the next mark, not each note. */
export function notesOfEndedFolds(): Sql<{ note_id: string }> {
  return named(
    `WITH RECURSIVE live_folds AS MATERIALIZED (SELECT f.fold_id FROM note_folds f WHERE ${IS_LIVE_FOLD}),
    marks AS MATERIALIZED (
      (SELECT n.fold_id FROM notes n WHERE ${HAS_MARK} ORDER BY n.fold_id LIMIT 1)
      UNION ALL SELECT (SELECT n.fold_id FROM notes n WHERE ${HAS_MARK} AND n.fold_id > marks.fold_id
        ORDER BY n.fold_id LIMIT 1) FROM marks WHERE marks.fold_id IS NOT NULL),
    ended_folds AS MATERIALIZED (SELECT fold_id FROM marks
      WHERE fold_id IS NOT NULL AND fold_id NOT IN (SELECT fold_id FROM live_folds))
    SELECT n.note_id FROM ended_folds f
      CROSS JOIN LATERAL (SELECT n.note_id FROM notes n WHERE ${HAS_MARK} AND n.fold_id = f.fold_id
        ORDER BY n.submitted_at, n.note_id LIMIT ${FOLD_BATCH}) n LIMIT ${FOLD_BATCH}`,
  );
}

/** A place in the order of the waiting notes. */
export interface ComparedPlace {
  /** UTC, to the microsecond. */
  compared_at: string;
  compared_id: string;
}

const toPlace = (at: string): string =>
  `to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Reads the folds that are not over, each with the last note that was compared with it. */
export function foldsToCompare(): Sql<ComparedPlace & { fold_id: string }> {
  return named(
    `SELECT fold_id, compared_id, CASE WHEN isfinite(compared_at) THEN ${toPlace('compared_at')}
        ELSE '${START_OLDEST.at}' END AS compared_at
      FROM note_folds f WHERE ${IS_LIVE_FOLD} ORDER BY folded_at, fold_id`,
  );
}

/** Reads the waiting notes without a mark after a place, the oldest first. */
export function notesToCompare({ compared_at, compared_id }: ComparedPlace): Sql<ComparedPlace> {
  return named(
    `SELECT n.note_id AS compared_id, ${toPlace('n.submitted_at')} AS compared_at FROM notes n
      WHERE n.state = 'pending' AND n.tier = 'normal' AND n.fold_id IS NULL
        AND (n.submitted_at, n.note_id) > ($1::timestamptz, $2::uuid)
      ORDER BY n.submitted_at, n.note_id LIMIT ${FOLD_BATCH}`,
    [compared_at, compared_id],
  );
}

/** Notes how far the waiting notes were compared with a fold. */
export function saveCompared(foldId: string, { compared_at, compared_id }: ComparedPlace): Sql {
  return sql`UPDATE note_folds SET compared_at = ${compared_at}, compared_id = ${compared_id}
    WHERE fold_id = ${foldId}`;
}
