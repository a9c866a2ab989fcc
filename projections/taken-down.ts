import { named, type Sql } from '../platform/sql.ts';

/** Something that was public and is not any more, and since when. */
export interface TakenDownRow {
  id: string;
  at: Date;
}

/**
 * Reads the records of a kind that were taken down, newest first: those of all authors, or of one.
 * The table must have the columns `taken_down_at` and `author_id`.
 */
export function recordsTakenDown(
  table: 'artifacts' | 'cases',
  idColumn: string,
  limit: number,
  author: string | undefined,
): Sql<TakenDownRow> {
  return named(
    `SELECT ${idColumn} AS id, taken_down_at AS at FROM ${table}
    WHERE taken_down_at IS NOT NULL ${author ? 'AND author_id = $2' : ''}
    ORDER BY taken_down_at DESC, ${idColumn} LIMIT $1`,
    author ? [limit, author] : [limit],
  );
}

/**
 * Reads the entries of the public activity whose subject was taken down, newest first: what
 * `publicActivity` does not list any more. A reply disappears with the note that it replies to,
 * unless it was taken down before; an appeal may also approve a reply after that, which was never
 * public then. The limit is part of the text, for the reason given at `publicActivity`.
 */
export function activityTakenDown(limit: number): Sql<TakenDownRow> {
  const rows = Math.trunc(limit);
  return named(`WITH gone AS (
      (SELECT 'case' AS type, case_id AS id, least(taken_down_at, withdrawn_at) AS at FROM cases
        WHERE least(taken_down_at, withdrawn_at) IS NOT NULL
        ORDER BY least(taken_down_at, withdrawn_at) DESC, case_id LIMIT ${rows})
      UNION ALL
      (SELECT 'artifact', artifact_id, taken_down_at FROM artifacts
        WHERE taken_down_at IS NOT NULL ORDER BY taken_down_at DESC, artifact_id LIMIT ${rows})
      UNION ALL
      (SELECT 'profile', member_id, taken_down_at FROM profiles
        WHERE taken_down_at IS NOT NULL ORDER BY taken_down_at DESC, member_id LIMIT ${rows})
      UNION ALL
      (SELECT 'note', n.note_id, n.gone_at FROM notes n
        WHERE n.gone_at IS NOT NULL AND n.state <> 'approved'
          AND NOT coalesce((SELECT p.state <> 'approved' AND p.gone_at < n.gone_at
            FROM notes p WHERE p.note_id = n.parent_id), false)
        ORDER BY n.gone_at DESC, n.note_id LIMIT ${rows})
      UNION ALL
      (SELECT 'note', r.note_id, p.gone_at
        FROM (SELECT note_id, gone_at FROM notes
            WHERE gone_at IS NOT NULL AND state <> 'approved'
            ORDER BY gone_at DESC, note_id LIMIT ${rows}) p,
          LATERAL (SELECT note_id FROM notes
            WHERE parent_id = p.note_id AND approved_at < p.gone_at
              AND (state = 'approved' OR gone_at > p.gone_at)
            ORDER BY note_id LIMIT ${rows}) r)
    )
    SELECT a.entry_id AS id, gone.at FROM gone
      JOIN activity a ON a.subject_id = gone.id AND a.subject_type = gone.type
    ORDER BY gone.at DESC, a.entry_id LIMIT ${rows}`);
}
