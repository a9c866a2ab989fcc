import type pg from 'pg';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { guestName } from '../../platform/visible-text.ts';
import { type SearchKind, searchPublic } from '../../projections/search/search.ts';

export interface PublicSearch {
  words: string;
  kind?: SearchKind | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** Finds public records that contain all words, newest first; one page, for HTTP and for MCP. */
export async function findPublic(pool: pg.Pool, { words, kind, cursor, limit }: PublicSearch) {
  const place = toKeysetPosition(cursor);
  if (isRefusal(place)) return place;
  const found = await query(pool, searchPublic(words, kind, limit + 1, place));
  const { rows, next_cursor } = toPage(found, limit, (row) => ({ at: row.place, id: row.id }));
  const results = rows.map((row) => ({
    kind: row.kind,
    id: row.id,
    title: row.kind === 'note' ? guestName(row.title) : (row.title ?? ''),
    excerpt: row.excerpt ?? '',
    at: row.at.toISOString(),
  }));
  return { results, next_cursor };
}
