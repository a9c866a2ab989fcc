import { locking, type Sql, sql } from '../../../platform/sql.ts';
import { hasEnded } from '../../../projections/membership/ending.ts';
import type { Value } from '../queue/queue-filters.ts';

/** How waiting notes of guests are alike: in their text, or in the address that they came from. */
export const FOLD_KINDS = ['text', 'address'] as const;
export type FoldKind = (typeof FOLD_KINDS)[number];

/** The most folds at a time: each costs every read of the queue a lookup. */
export const MAX_FOLDS = 10;
/** The newest notes among which the row of a fold is chosen and counted. */
export const MAX_FOLDED = 250;

export interface FoldRow {
  kind: FoldKind;
  note_id: string;
  moderator_id: string;
  moderator_name: string | null;
  ends_at: Date;
  /** The hashes of the text, or none. */
  hashes: string[];
  /** The keyed hash of the address; null for a text. */
  bucket: string | null;
  /** The oldest waiting note, which represents the others; null if none waits. */
  first_id: string | null;
  notes: number;
}

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

/** SQL: the newest notes from the address of the note `id`. */
const fromAddress = (id: string): string => `SELECT note_id FROM note_addresses
  WHERE bucket = (SELECT bucket FROM note_addresses WHERE note_id = ${id})
  ORDER BY submitted_at DESC LIMIT ${MAX_FOLDED}`;

/** SQL: whether a note waits in the row of a fold. Escalated and deferred notes, and members', never do. */
const IS_FOLDED = `n.state = 'pending' AND n.tier = 'normal' AND n.member_id IS NULL
  AND (n.deferred_until IS NULL OR n.deferred_until <= clock_timestamp()) AND NOT ${hasEnded('n')}`;

/** The folds that are not over, each with the note that represents the others. */
export function liveFolds(): Sql<FoldRow> {
  const found = (ids: string) => `SELECT n.note_id, n.submitted_at FROM (${ids}) c
    CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = c.note_id LIMIT 1) n
    WHERE ${IS_FOLDED}`;
  const text = `SELECT f.kind, f.note_id, f.moderator_id, m.name AS moderator_name, f.ends_at,
      CASE f.kind WHEN 'text' THEN ARRAY(SELECT hash::text FROM note_fingerprints
        WHERE note_id = f.note_id) ELSE '{}' END AS hashes,
      CASE f.kind WHEN 'address' THEN (SELECT bucket FROM note_addresses
        WHERE note_id = f.note_id) END AS bucket,
      waiting.first_id, waiting.notes
    FROM note_folds f LEFT JOIN moderators m USING (moderator_id)
    CROSS JOIN LATERAL (
      SELECT (array_agg(note_id ORDER BY submitted_at, note_id))[1] AS first_id,
        count(*)::int AS notes
      FROM (
        (SELECT * FROM (${found(alike('f.note_id', MAX_FOLDED))}) texts WHERE f.kind = 'text')
        UNION ALL
        (SELECT * FROM (${found(fromAddress('f.note_id'))}) sent WHERE f.kind = 'address')) each) waiting
    WHERE f.ends_at > clock_timestamp() ORDER BY f.folded_at, f.note_id, f.kind LIMIT ${MAX_FOLDS}`;
  return { name: 'live-folds', text, values: [] };
}

/**
 * The condition on a note `n` that it is not in the row of another note; null if nothing is folded. The
 * notes are looked at one by one, so that none is hidden that no row represents.
 */
export function notFolded(folds: readonly FoldRow[], value: Value): string | null {
  const standing = folds.filter(({ first_id }) => first_id !== null);
  if (standing.length === 0) return null;
  const firsts = value(
    standing.map(({ first_id }) => first_id),
    'uuid[]',
  );
  const texts = standing.filter(({ hashes }) => hashes.length > 0);
  const shared = texts.map(
    ({ hashes }) => `2 * count(*) FILTER (WHERE p.hash IN (
      SELECT unnest(${value(hashes, 'bigint[]')}))) >= ${hashes.length}`,
  );
  const buckets = standing.flatMap(({ bucket }) => bucket ?? []);
  const matches = [
    ...(shared.length > 0
      ? [`(SELECT ${shared.join(' OR ')} FROM note_fingerprints p WHERE p.note_id = n.note_id)`]
      : []),
    ...(buckets.length > 0
      ? [
          `coalesce((SELECT bucket FROM note_addresses a WHERE a.note_id = n.note_id)
            IN (SELECT unnest(${value(buckets, 'text[]')})), false)`,
        ]
      : []),
  ];
  return `(n.note_id IN (SELECT unnest(${firsts})) OR NOT (${IS_FOLDED} AND (${matches.join(' OR ')})))`;
}

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

/** Makes other new folds wait until the transaction ends. */
export const lockFolds = (): Sql =>
  locking(sql`SELECT pg_advisory_xact_lock(hashtext('note-folds'))`);

/** The folds that are not over, by kind and note. */
export function foldKeys(): Sql<{ kind: FoldKind; note_id: string }> {
  return sql`SELECT kind, note_id FROM note_folds WHERE ends_at > clock_timestamp()`;
}

export const dropEndedFolds = (): Sql =>
  sql`DELETE FROM note_folds WHERE ends_at <= clock_timestamp()`;

export function saveFold(
  kind: FoldKind,
  noteId: string,
  moderatorId: string,
  { days, latest }: { days: number; latest: Date | null },
): Sql {
  return sql`INSERT INTO note_folds (kind, note_id, moderator_id, folded_at, ends_at)
    VALUES (${kind}, ${noteId}, ${moderatorId}, clock_timestamp(),
      least(clock_timestamp() + make_interval(days => ${days}::int), ${latest}::timestamptz))
    ON CONFLICT (kind, note_id) DO UPDATE SET moderator_id = excluded.moderator_id,
      ends_at = excluded.ends_at`;
}

export function deleteFold(kind: FoldKind, noteId: string): Sql {
  return sql`DELETE FROM note_folds WHERE kind = ${kind} AND note_id = ${noteId}`;
}
