import { type KeysetPosition, START_NEWEST } from '../../platform/keyset-cursor.ts';
import type { Sql } from '../../platform/sql.ts';
import type { SearchQuery } from '../../platform/word-vector.ts';
import { noteStays, stays } from '../membership/members.ts';
import { isUnsplit } from './unsplit.ts';

export const SEARCH_KINDS = ['note', 'member', 'artifact', 'case'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** A public record that contains all the words. `at` is when it was published. */
export interface FoundRow extends Totals {
  kind: SearchKind;
  id: string;
  title: string | null;
  /** The texts that may contain the words, in the order in which an excerpt prefers them. */
  texts: (string | null)[];
  attribution: 'guest' | 'member' | null;
  at: Date;
  place: string;
}

interface Totals {
  /** How many records were found, those of other pages included. */
  count: number;
  /** Whether every record was looked at. */
  complete: boolean;
}

/** Totals without a record, if the page is empty. */
export type SearchRow = FoundRow | (Totals & { id: null });

/** A searched table, with the alias `r` in each SQL fragment. */
interface Source {
  table: string;
  id: string;
  at: string;
  /** The condition of the word index and of the time index on the table. */
  shown: string;
  /** A further condition. */
  where?: string;
  /** Whether records are also found by their member's handle. */
  byHandle?: true;
  title: string;
  texts: string;
  attribution?: string;
  join?: string;
}

const SOURCES: Readonly<Record<SearchKind, Source>> = {
  note: {
    table: 'notes',
    id: 'r.note_id',
    at: 'r.approved_at',
    shown: `r.state = 'approved'`,
    // A scalar subquery, because for EXISTS the planner may hash all approved notes.
    where: `(r.parent_id IS NULL
      OR (SELECT p.state FROM notes p WHERE p.note_id = r.parent_id AND ${noteStays('p.member_id')})
        = 'approved') AND ${noteStays('r.member_id')}`,
    title: `CASE r.attribution WHEN 'member' THEN coalesce(m.handle, 'former member') ELSE r.name END`,
    texts: 'ARRAY[r.message]',
    attribution: 'r.attribution',
    join: 'LEFT JOIN members m ON m.member_id = r.member_id',
  },
  member: {
    table: 'profiles',
    id: 'r.member_id',
    at: 'r.published_at',
    shown: `r.state = 'published'`,
    byHandle: true,
    title: 'r.display_name',
    texts: 'ARRAY[r.summary]',
  },
  artifact: {
    table: 'artifacts',
    id: 'r.artifact_id',
    at: 'r.created_at',
    shown: `r.state = 'published'`,
    where: stays('r.author_id'),
    title: 'r.title',
    texts: `ARRAY[r.packet->>'summary']`,
  },
  case: {
    table: 'cases',
    id: 'r.case_id',
    at: 'r.created_at',
    shown: 'NOT r.removed AND NOT r.author_gone',
    where: stays('r.author_id'),
    title: 'r.title',
    texts: 'ARRAY[r.summary, r.objective]',
  },
};

/** Rows of each kind that a search looks at by its words, and again among the newest. */
export const MAX_CANDIDATES = 2500;

/**
 * Planner setting for searches: the newest records are read in the order of their index, also by a
 * plan that is kept from when the table was small.
 */
export const SEARCH_SETTINGS = { enable_sort: 'off' } as const;

/**
 * Searches public records, newest first. The index of words has no order: where it knows more records
 * than a search may look at, the search looks at some of them and at the newest records.
 */
export function searchPublic(
  { matches, candidates, handle }: SearchQuery,
  kind: SearchKind | undefined,
  limit: number,
  { at, id }: KeysetPosition = START_NEWEST,
): Sql<SearchRow> {
  const kinds = kind ? [kind] : SEARCH_KINDS;
  const each = (part: (kind: SearchKind) => string) => kinds.map(part).join(' UNION ALL ');
  return {
    name: `search-${kind ?? 'all'}`,
    text: `WITH ${kinds.map(candidatesOf).join(', ')},
      matches AS MATERIALIZED (${each(matchesOf)}),
      page AS MATERIALIZED (SELECT * FROM matches WHERE $3::text IS NOT NULL AND (at, id) < ($4::timestamptz, $5::uuid)
        ORDER BY at DESC, id DESC LIMIT $6)
      SELECT totals.*, page.*, content.title, content.texts, content.attribution,
        to_char(page.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
      FROM (SELECT (SELECT count(*)::int FROM matches) AS count,
          NOT (${kinds.map(isIncomplete).join(' OR ')}) AS complete) totals
        LEFT JOIN page ON true
        LEFT JOIN LATERAL (${each(contentOf)}) content ON true
      ORDER BY page.at DESC, page.id DESC`,
    values: [matches, candidates, handle, at, id, limit],
  };
}

/** OFFSET 0 keeps the planner from using another index than that of the words. */
function candidatesOf(kind: SearchKind): string {
  const { table, id, at, shown, where = 'true' } = SOURCES[kind];
  const fits = `r.words @@ $1::tsquery AND ${where} AS fits`;
  return `${kind}_candidates AS MATERIALIZED (SELECT ${id} AS id, ${at} AS at, ${fits}
      FROM (SELECT * FROM ${table} r WHERE ${shown} AND r.words @@ $2::tsquery
        OFFSET 0 LIMIT ${MAX_CANDIDATES + 1}) r),
    ${kind}_newest AS MATERIALIZED (SELECT ${id} AS id, ${at} AS at, ${fits}
      FROM (SELECT * FROM ${table} r WHERE ${shown} AND ${isBounded(kind)}
          AND (${at}, ${id}) < ($4::timestamptz, $5::uuid)
        ORDER BY ${at} DESC, ${id} DESC LIMIT ${MAX_CANDIDATES}) r)`;
}

const isBounded = (kind: SearchKind) =>
  `($2::tsquery IS NULL OR (SELECT count(*) FROM ${kind}_candidates) > ${MAX_CANDIDATES})`;

/** Records of an earlier release may have no words yet. */
const isIncomplete = (kind: SearchKind) =>
  `${isBounded(kind)}
    OR (SELECT true FROM ${SOURCES[kind].table} r
      WHERE ${isUnsplit(SOURCES[kind].table)} LIMIT 1) IS NOT NULL`;

function matchesOf(kind: SearchKind): string {
  const { table, id, at, shown, byHandle } = SOURCES[kind];
  const named = byHandle
    ? `UNION SELECT ${id}, ${at} FROM members m JOIN ${table} r USING (member_id)
        WHERE m.handle = $3::text AND ${shown}`
    : '';
  return `SELECT '${kind}' AS kind, id, at FROM (SELECT id, at FROM ${kind}_candidates WHERE fits
      UNION SELECT id, at FROM ${kind}_newest WHERE fits ${named}) found`;
}

function contentOf(kind: SearchKind): string {
  const { table, id, title, texts, attribution = 'NULL', join = '' } = SOURCES[kind];
  return `SELECT ${title} AS title, ${texts} AS texts, ${attribution} AS attribution
    FROM ${table} r ${join} WHERE page.kind = '${kind}' AND ${id} = page.id`;
}
