import { type KeysetPosition, START_NEWEST } from '../../platform/keyset-cursor.ts';
import type { Sql } from '../../platform/sql.ts';

export const SEARCH_KINDS = ['note', 'member', 'artifact', 'case'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** A public record that contains all the words. `at` is when it was published. */
export interface FoundRow {
  kind: SearchKind;
  id: string;
  title: string;
  excerpt: string;
  at: Date;
  place: string;
}

/** A searched table, with the alias `r` in each SQL fragment. */
interface Source {
  table: string;
  id: string;
  at: string;
  /** The condition of the word index and of the time index on the table. */
  shown: string;
  /** The text that the word index covers; it must equal the expression in the schema. */
  text: string;
  /** A further condition. */
  where?: string;
  /** Selects ids of records found by something other than their words. */
  byName?: string;
  columns: string;
  join?: string;
}

const SOURCES: Readonly<Record<SearchKind, Source>> = {
  note: {
    table: 'notes',
    id: 'r.note_id',
    at: 'r.approved_at',
    shown: `r.state = 'approved'`,
    text: `coalesce(r.message, '')`,
    // A scalar subquery, because for EXISTS the planner may hash all approved notes.
    where: `(r.parent_id IS NULL
      OR (SELECT p.state FROM notes p WHERE p.note_id = r.parent_id) = 'approved')`,
    columns: `CASE r.attribution WHEN 'member' THEN coalesce(m.handle, 'former member')
      ELSE coalesce(r.name, '') END AS title, left(r.message, 200) AS excerpt`,
    join: 'LEFT JOIN members m ON m.member_id = r.member_id',
  },
  member: {
    table: 'profiles',
    id: 'r.member_id',
    at: 'r.published_at',
    shown: `r.state = 'published'`,
    text: `coalesce(r.display_name, '') || ' ' || coalesce(r.summary, '')`,
    byName: 'SELECT member_id FROM members WHERE handle = lower($1)',
    columns: 'r.display_name AS title, left(r.summary, 200) AS excerpt',
  },
  artifact: {
    table: 'artifacts',
    id: 'r.artifact_id',
    at: 'r.created_at',
    shown: `r.state = 'published'`,
    text: `coalesce(r.title, '') || ' ' || coalesce(r.packet->>'summary', '')`,
    columns: `r.title, left(r.packet->>'summary', 200) AS excerpt`,
  },
  case: {
    table: 'cases',
    id: 'r.case_id',
    at: 'r.created_at',
    shown: 'NOT r.removed AND NOT r.author_gone',
    text: `coalesce(r.title, '') || ' ' || coalesce(r.summary, '') || ' ' || coalesce(r.objective, '')`,
    columns: 'r.title, left(r.summary, 200) AS excerpt',
  },
};

/**
 * Number of newest records that are searched before the word index; none if the newest
 * `PROBED_FIRST` have no match at all.
 */
const NEWEST_FIRST = 200;
const PROBED_FIRST = 40;

/**
 * Searches public records that contain all words of the query (`or`, `-` and quotes have their
 * usual meaning), newest first.
 */
export function searchPublic(
  query: string,
  kind: SearchKind | undefined,
  limit: number,
  { at, id }: KeysetPosition = START_NEWEST,
): Sql<FoundRow> {
  const kinds = kind ? [kind] : SEARCH_KINDS;
  return {
    name: `search-${kind ?? 'all'}`,
    text: `SELECT *, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
      FROM (${kinds.map(ofKind).join(' UNION ALL ')}) found
      ORDER BY at DESC, id DESC LIMIT $4`,
    values: [query.normalize('NFKC'), at, id, limit],
  };
}

/**
 * The time index knows no words, and the word index has no order. A word that fills a page from the
 * newest records is found by the time index; any other word by the word index, with all its
 * matches. The planner cannot know how rare a word is and would choose one index for both; OFFSET 0
 * prevents that.
 */
function ofKind(kind: SearchKind): string {
  const { table, id, at, shown, text, where = 'true', byName, columns, join = '' } = SOURCES[kind];
  const each = `SELECT ${id} AS id, ${at} AS at FROM`;
  const before = (row: string) => `${row} < ($2::timestamptz, $3::uuid)`;
  const fits = `to_tsvector('simple', composed(${text}))
    @@ websearch_to_tsquery('simple', $1) AND ${where}`;
  const newest = (count: number) => `(SELECT * FROM ${table} r
    WHERE ${shown} AND ${before(`(${at}, ${id})`)}
    ORDER BY ${at} DESC, ${id} DESC LIMIT ${count}) r`;
  const every = `${each} ${table} r WHERE ${shown} AND ${fits} OFFSET 0`;
  const named = byName
    ? `UNION ${each} ${table} r WHERE ${id} IN (${byName}) AND ${shown} AND ${before(`(${at}, ${id})`)}`
    : '';
  return `(WITH late AS MATERIALIZED (${each} ${newest(NEWEST_FIRST)}
      WHERE EXISTS (SELECT FROM ${newest(PROBED_FIRST)} WHERE ${fits}) AND ${fits}
      ORDER BY at DESC, id DESC LIMIT $4)
    SELECT '${kind}' AS kind, found.id, ${columns}, found.at
    FROM (SELECT * FROM (SELECT * FROM late WHERE (SELECT count(*) FROM late) = $4
        UNION ALL SELECT * FROM (${every}) every
          WHERE (SELECT count(*) FROM late) < $4 AND ${before('(at, id)')}
        ${named}) matches
      ORDER BY at DESC, id DESC LIMIT $4) found
    JOIN ${table} r ON ${id} = found.id ${join})`;
}
