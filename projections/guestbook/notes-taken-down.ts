import { type Sql, sql } from '../../platform/sql.ts';
import type { TakenDownRow } from '../taken-down.ts';

/** Reads the top-level notes of an experience that ceased to be public, newest first. */
export function notesTakenDown(experience: string, limit: number): Sql<TakenDownRow> {
  return sql`SELECT note_id AS id, gone_at AS at FROM notes
    WHERE experience = ${experience} AND parent_id IS NULL
      AND gone_at IS NOT NULL AND state <> 'approved'
    ORDER BY gone_at DESC, note_id LIMIT ${limit}`;
}

/** Reads the replies to a public note that ceased to be public, newest first. */
export function repliesTakenDown(parentId: string, limit: number): Sql<TakenDownRow> {
  return sql`SELECT note_id AS id, gone_at AS at FROM notes
    WHERE parent_id = ${parentId} AND gone_at IS NOT NULL AND state <> 'approved'
    ORDER BY gone_at DESC, note_id LIMIT ${limit}`;
}

/**
 * Reads the notes of a member that ceased to be public, newest first. A reply disappears with the note
 * that it replies to, unless it did before; an approval after that did not make it public.
 */
export function notesOfMemberTakenDown(memberId: string, limit: number): Sql<TakenDownRow> {
  return sql`SELECT n.note_id AS id, gone.at
    FROM notes n LEFT JOIN notes p ON p.note_id = n.parent_id,
      LATERAL (SELECT least(
        CASE WHEN n.state <> 'approved' THEN n.gone_at END,
        CASE WHEN p.state <> 'approved' THEN p.gone_at END) AS at) gone
    WHERE n.member_id = ${memberId} AND (n.state = 'approved' OR n.gone_at IS NOT NULL)
      AND coalesce(n.approved_at, '-infinity') < gone.at
    ORDER BY gone.at DESC, n.note_id LIMIT ${limit}`;
}
