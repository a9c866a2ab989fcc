import { defineRead } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';

export interface UpdatesRow {
  /** The member's newest sequence, in the same snapshot. */
  head: number;
  /**
   * The last sequence of the page, and its entries as comma-separated JSON; both null if it is
   * empty.
   */
  last: number | null;
  entries: string | null;
  /** The last sequence that was looked at, of which only some types were wanted. */
  through?: number;
  /** The epoch of the log. */
  epoch: number;
  /** Whether synchronous standbys are configured, and when the server was started. */
  has_standbys: boolean;
  server_started_at: Date;
}

/**
 * Entries as the JSON of the response: to build a page of 100 in JavaScript costs three times as
 * much. `type` and `subject_type` are words that the feed defines and need no escaping.
 */
const ENTRIES = `string_agg(
        '{"id":"' || event_id || '","sequence":' || sequence || ',"type":"' || type
        || '","occurred_at":"'
        || to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","subject":{"type":"' || subject_type || '","id":"' || subject_id
        || '"},"actor":' || actor || ',"data":' || data || '}', ',' ORDER BY sequence)`;

const HEAD = `head.sequence AS head, (SELECT max(epoch) FROM log_epochs) AS epoch,
      current_setting('synchronous_standby_names') <> '' AS has_standbys,
      pg_postmaster_start_time() AS server_started_at`;

const entriesAfter = defineRead<UpdatesRow, { member_id: 'uuid'; after: 'bigint'; most: 'int' }>(
  { member_id: 'uuid', after: 'bigint', most: 'int' },
  (key) => `SELECT ${HEAD}, page.last, page.entries
    FROM feed_heads head CROSS JOIN (
      SELECT max(sequence) AS last, ${ENTRIES} AS entries
      FROM (SELECT * FROM feed WHERE member_id = ${key.member_id} AND sequence > ${key.after}
        ORDER BY sequence LIMIT ${key.most}) entry) page
    WHERE head.member_id = ${key.member_id}`,
);

/** Reads a member's entries after a sequence, oldest first. */
export const readUpdates = (memberId: string, after: number, limit: number): Sql<UpdatesRow> =>
  entriesAfter({ member_id: memberId, after, most: limit });

/** Entries that a read of some types looks at, so that rare types cost no more in a long feed. */
const LOOK_AT = 5000;

/**
 * Reads a member's entries of these types after a sequence, oldest first. `subjects` are words
 * before the dot of a type.
 */
export function readUpdatesOfTypes(
  memberId: string,
  after: number,
  limit: number,
  { names, subjects }: { names: readonly string[]; subjects: readonly string[] },
): Sql<UpdatesRow> {
  return named(
    `SELECT ${HEAD}, page.last, page.entries,
      CASE WHEN page.count = $3 THEN page.last
        ELSE greatest($2, least(head.sequence, $2 + ${LOOK_AT})) END AS through
    FROM feed_heads head CROSS JOIN (
      SELECT count(*) AS count, max(sequence) AS last, ${ENTRIES} AS entries
      FROM (SELECT * FROM feed WHERE member_id = $1 AND sequence > $2
          AND sequence <= $2 + ${LOOK_AT}
          AND (type = ANY($4::text[]) OR type LIKE ANY($5::text[]))
        ORDER BY sequence LIMIT $3) entry) page
    WHERE head.member_id = $1`,
    [memberId, after, limit, names, subjects.map((word) => `${word.replaceAll('_', '\\_')}.%`)],
  );
}

export interface HeadRow {
  member_id: string;
  sequence: number;
}

/** The newest sequence of each of these members. */
export function readHeads(memberIds: readonly string[]): Sql<HeadRow> {
  return sql`SELECT member_id, sequence FROM feed_heads WHERE member_id = ANY(${memberIds}::uuid[])`;
}

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
