import { type Sql, sql } from '../../platform/sql.ts';

export interface FeedRow {
  sequence: number;
  event_id: string;
  type: string;
  occurred_at: Date;
  subject_type: string;
  subject_id: string;
  actor: Record<string, unknown>;
  data: Record<string, unknown>;
}

/** The newest sequence in a member's feed. */
export function feedHead(memberId: string): Sql<{ sequence: number }> {
  return sql`SELECT sequence FROM feed_heads WHERE member_id = ${memberId}`;
}

/** Reads a member's feed after one sequence, up to and including another, oldest entry first. */
export function feedAfter(
  memberId: string,
  after: number,
  until: number,
  limit: number,
): Sql<FeedRow> {
  return sql`SELECT sequence, event_id, type, occurred_at, subject_type, subject_id, actor, data
    FROM feed WHERE member_id = ${memberId} AND sequence > ${after} AND sequence <= ${until}
    ORDER BY sequence LIMIT ${limit}`;
}
