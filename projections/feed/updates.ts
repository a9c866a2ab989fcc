import type { Actor } from '../../services/eventstore/event.ts';
import { type Sql, sql } from '../../services/eventstore/sql.ts';

/** A row for each entry of the page; one row with nulls where there is none. */
export interface UpdateRow {
  /** The member's newest sequence, in the same snapshot. */
  head: number;
  sequence: number | null;
  event_id: string;
  type: string;
  occurred_at: Date;
  subject_type: string;
  subject_id: string;
  actor: Actor;
  data: Record<string, unknown>;
}

/** A member's entries after a sequence, oldest first, with the newest sequence beside them. */
export function readUpdates(memberId: string, after: number, limit: number): Sql {
  return sql`SELECT head.sequence AS head, page.*
    FROM feed_heads head LEFT JOIN LATERAL (
      SELECT sequence, event_id, type, occurred_at, subject_type, subject_id, actor, data
      FROM feed WHERE member_id = head.member_id AND sequence > ${after}
      ORDER BY sequence LIMIT ${limit}) page ON true
    WHERE head.member_id = ${memberId} ORDER BY page.sequence`;
}

export interface HeadRow {
  member_id: string;
  sequence: number;
}

/** The newest sequence of each of these members. */
export function readHeads(memberIds: readonly string[]): Sql {
  return sql`SELECT member_id, sequence FROM feed_heads WHERE member_id = ANY(${memberIds}::uuid[])`;
}
