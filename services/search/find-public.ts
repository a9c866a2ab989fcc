import type pg from 'pg';
import { nextPage, toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { boundedReads } from '../../platform/postgres/bounded-reads.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { guestName } from '../../platform/visible-text.ts';
import { toSearchQuery } from '../../platform/word-vector.ts';
import {
  type FoundRow,
  SEARCH_SETTINGS,
  type SearchKind,
  searchPublic,
} from '../../projections/search/search.ts';
import { createExcerpts } from './excerpt.ts';

export interface PublicSearch {
  words: string;
  kind?: SearchKind | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** Anyone can search, as often as they like, so searches leave the pool to other work. */
const BOUNDS = { maxConcurrent: 2, waitMs: 1000, statementMs: 300, settings: SEARCH_SETTINGS };

const readsOf = new WeakMap<pg.Pool, ReturnType<typeof boundedReads>>();

/** All transports of a process share the connections for searches. */
function searchReads(pool: pg.Pool) {
  const reads = readsOf.get(pool) ?? boundedReads(pool, BOUNDS);
  readsOf.set(pool, reads);
  return reads;
}

/**
 * Finds public records that contain all words, newest first; one page, for HTTP and for MCP. Ends with
 * the caller (`gone`). Throws `Overloaded`.
 */
export async function findPublic(
  pool: pg.Pool,
  { words, kind, cursor, limit }: PublicSearch,
  gone: AbortSignal,
) {
  const place = toKeysetPosition('search', cursor);
  if (isRefusal(place)) return place;
  const asked = toSearchQuery(words);
  if (asked.alternatives.length === 0)
    return { results: [], ...nextPage(null), count: 0, complete: true };
  const read = await searchReads(pool)(searchPublic(asked, kind, limit + 1, place), gone);
  const found = read.filter((row): row is FoundRow => row.id !== null);
  const { rows, next } = toPage('search', found, limit, (row) => ({ at: row.place, id: row.id }));
  const toExcerpt = createExcerpts(asked.alternatives);
  const results = rows.map((row) => ({
    kind: row.kind,
    id: row.id,
    title: row.kind === 'note' ? guestName(row.title) : (row.title ?? ''),
    ...(row.attribution ? { attribution: row.attribution } : {}),
    ...toExcerpt(row.texts),
    at: row.at.toISOString(),
  }));
  const { count = 0, complete = true } = read[0] ?? {};
  return { results, ...next, count, complete };
}
