import { named, type Sql } from '../../platform/sql.ts';
import type { TakenDownRow } from '../taken-down.ts';

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
      (SELECT 'note', n.note_id, n.settled_at FROM notes n
        WHERE n.approved_at IS NOT NULL AND n.state IN ('removed', 'withdrawn')
          AND NOT coalesce((SELECT p.state <> 'approved' AND p.settled_at < n.settled_at
            FROM notes p WHERE p.note_id = n.parent_id), false)
        ORDER BY n.settled_at DESC, n.note_id LIMIT ${rows})
      UNION ALL
      (SELECT 'note', r.note_id, p.settled_at
        FROM (SELECT note_id, settled_at FROM notes
            WHERE approved_at IS NOT NULL AND state IN ('removed', 'withdrawn')
            ORDER BY settled_at DESC, note_id LIMIT ${rows}) p,
          LATERAL (SELECT note_id FROM notes
            WHERE parent_id = p.note_id AND approved_at < p.settled_at
              AND (state = 'approved' OR settled_at > p.settled_at)
            ORDER BY note_id LIMIT ${rows}) r)
    )
    SELECT a.entry_id AS id, gone.at FROM gone
      JOIN activity a ON a.subject_id = gone.id AND a.subject_type = gone.type
    ORDER BY gone.at DESC, a.entry_id LIMIT ${rows}`);
}
