import type { Sql } from '../services/eventstore/sql.ts';
import type { Place } from '../services/http/place.ts';

export const SEARCH_KINDS = ['note', 'member', 'artifact', 'case'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** Something public in which all the words stand; `at` is when it appeared. */
export interface FoundRow {
  kind: SearchKind;
  id: string;
  title: string;
  excerpt: string;
  at: Date;
  place: string;
}

interface Source {
  columns: string;
  from: string;
  at: string;
  id: string;
  where: string;
}

const words = (text: string) =>
  `to_tsvector('simple', ${text}) @@ websearch_to_tsquery('simple', $1)`;

// Each text is the one that its index in migration 0016 holds.
const SOURCES: Readonly<Record<SearchKind, Source>> = {
  note: {
    columns: `CASE n.attribution WHEN 'member' THEN coalesce(m.handle, 'former member')
      ELSE coalesce(nullif(n.name, ''), 'Guest') END AS title, left(n.message, 200) AS excerpt`,
    from: 'notes n LEFT JOIN members m ON m.member_id = n.member_id',
    at: 'n.approved_at',
    id: 'n.note_id',
    where: `n.state = 'approved' AND ${words(`coalesce(n.message, '')`)}
      AND (n.parent_id IS NULL
        OR EXISTS (SELECT FROM notes r WHERE r.note_id = n.parent_id AND r.state = 'approved'))`,
  },
  member: {
    columns: 'p.display_name AS title, left(p.summary, 200) AS excerpt',
    from: 'profiles p',
    at: 'p.published_at',
    id: 'p.member_id',
    where: `p.state = 'published' AND p.member_id IN (
      SELECT member_id FROM profiles WHERE state = 'published'
        AND ${words(`coalesce(display_name, '') || ' ' || coalesce(summary, '')`)}
      UNION ALL SELECT member_id FROM members WHERE handle = lower($1))`,
  },
  artifact: {
    columns: `a.title, left(a.packet->>'summary', 200) AS excerpt`,
    from: 'artifacts a',
    at: 'a.created_at',
    id: 'a.artifact_id',
    where: `a.state = 'published'
      AND ${words(`coalesce(a.title, '') || ' ' || coalesce(a.packet->>'summary', '')`)}`,
  },
  case: {
    columns: 'c.title, left(c.summary, 200) AS excerpt',
    from: 'cases c',
    at: 'c.created_at',
    id: 'c.case_id',
    where: `NOT c.removed AND NOT c.author_gone
      AND ${words(`coalesce(c.title, '') || ' ' || coalesce(c.summary, '') || ' ' ||
        coalesce(c.objective, '')`)}`,
  },
};

const NEWEST: Place = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** What is public and holds all the words of the query, newest first. */
export function searchPublic(
  query: string,
  kind: SearchKind | undefined,
  limit: number,
  { at, id }: Place = NEWEST,
): Sql {
  const kinds = kind ? [kind] : SEARCH_KINDS;
  const selects = kinds.map((each) => {
    const source = SOURCES[each];
    return `(SELECT '${each}' AS kind, ${source.id} AS id, ${source.columns}, ${source.at} AS at
      FROM ${source.from}
      WHERE ${source.where} AND (${source.at}, ${source.id}) < ($2::timestamptz, $3::uuid)
      ORDER BY ${source.at} DESC, ${source.id} DESC LIMIT $4)`;
  });
  return {
    name: `search-${kind ?? 'all'}`,
    text: `SELECT *, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
      FROM (${selects.join(' UNION ALL ')}) found
      ORDER BY at DESC, id DESC LIMIT $4`,
    values: [query, at, id, limit],
  };
}
