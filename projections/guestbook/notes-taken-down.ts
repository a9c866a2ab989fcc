import { type Sql, sql } from '../../platform/sql.ts';
import type { TakenDownRow } from '../taken-down.ts';

/** Reads the top-level notes of an experience that were taken down, newest first. */
export function notesTakenDown(experience: string, limit: number): Sql<TakenDownRow> {
  return sql`SELECT note_id AS id, settled_at AS at FROM notes
    WHERE experience = ${experience} AND parent_id IS NULL AND approved_at IS NOT NULL
      AND state IN ('removed', 'withdrawn')
    ORDER BY settled_at DESC, note_id LIMIT ${limit}`;
}

/** Reads the replies to a public note that were taken down, newest first. */
export function repliesTakenDown(parentId: string, limit: number): Sql<TakenDownRow> {
  return sql`SELECT note_id AS id, settled_at AS at FROM notes
    WHERE parent_id = ${parentId} AND approved_at IS NOT NULL AND state IN ('removed', 'withdrawn')
    ORDER BY settled_at DESC, note_id LIMIT ${limit}`;
}

/**
 * Reads the notes of a member that were taken down, newest first. A reply disappears with the note
 * that it replies to, unless it was taken down before.
 */
export function notesOfMemberTakenDown(memberId: string, limit: number): Sql<TakenDownRow> {
  return sql`SELECT n.note_id AS id, gone.at
    FROM notes n LEFT JOIN notes p ON p.note_id = n.parent_id,
      LATERAL (SELECT least(
        CASE WHEN n.state <> 'approved' THEN n.settled_at END,
        CASE WHEN p.state <> 'approved' THEN p.settled_at END) AS at) gone
    WHERE n.member_id = ${memberId} AND n.approved_at < gone.at
    ORDER BY gone.at DESC, n.note_id LIMIT ${limit}`;
}
