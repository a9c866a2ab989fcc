import { type Sql, sql } from '../../platform/sql.ts';

export interface UpdatesRow {
  /** The member's newest sequence, in the same snapshot. */
  head: number;
  /**
   * The last sequence of the page, and its entries as comma-separated JSON; both null if it is
   * empty.
   */
  last: number | null;
  entries: string | null;
  /** The epoch of the log. */
  epoch: number;
  /** Whether synchronous standbys are configured, and when the server was started. */
  has_standbys: boolean;
  server_started_at: Date;
}

/**
 * Reads a member's entries after a sequence, oldest first, already as the JSON of the response: to
 * build a page of 100 in JavaScript costs three times as much. `type` and `subject_type` are words
 * that the feed defines and need no escaping.
 */
export function readUpdates(memberId: string, after: number, limit: number): Sql<UpdatesRow> {
  return sql`SELECT head.sequence AS head, page.last, page.entries,
      (SELECT max(epoch) FROM log_epochs) AS epoch,
      current_setting('synchronous_standby_names') <> '' AS has_standbys,
      pg_postmaster_start_time() AS server_started_at
    FROM feed_heads head CROSS JOIN (
      SELECT max(sequence) AS last, string_agg(
        '{"id":"' || event_id || '","sequence":' || sequence || ',"type":"' || type
        || '","occurred_at":"'
        || to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","subject":{"type":"' || subject_type || '","id":"' || subject_id
        || '"},"actor":' || actor || ',"data":' || data || '}', ',' ORDER BY sequence) AS entries
      FROM (SELECT * FROM feed WHERE member_id = ${memberId} AND sequence > ${after}
        ORDER BY sequence LIMIT ${limit}) entry) page
    WHERE head.member_id = ${memberId}`;
}

export interface HeadRow {
  member_id: string;
  sequence: number;
}

/** The newest sequence of each of these members. */
export function readHeads(memberIds: readonly string[]): Sql<HeadRow> {
  return sql`SELECT member_id, sequence FROM feed_heads WHERE member_id = ANY(${memberIds}::uuid[])`;
}
