import { hash } from 'node:crypto';
import type { View } from '../../../domain/moderation/words.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { query } from '../../../platform/postgres/query.ts';
import type { Sql } from '../../../platform/sql.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import { hasNotes, type Viewer } from '../queue/queue.ts';
import { queueRows } from '../queue/queue-page.ts';
import { listReported } from '../queue/reported-records.ts';
import { MAX_COUNT, type SavedFilters, type SavedView } from './contract.ts';

/** Counts what a view with its filters has, at the cost of one page of it. */
export async function countView(
  { pool, membershipReview }: Pick<ModerationDeps, 'pool' | 'membershipReview'>,
  me: PrincipalOf<'moderator'>,
  view: View,
  filters: SavedFilters,
): Promise<SavedView['count']> {
  const others = listReported(
    view,
    me,
    filters,
    MAX_COUNT + 1,
    undefined,
    membershipReview.openAppeals,
  );
  const [[notes], records] = await Promise.all([
    hasNotes(filters) ? query(pool, countNotes(view, me, filters)) : [],
    others ? query(pool, others) : [],
  ]);
  const items = (notes?.count ?? 0) + records.length;
  return { items: Math.min(items, MAX_COUNT), more: items > MAX_COUNT || notes?.ends === true };
}

function countNotes(
  view: View,
  viewer: Viewer,
  filters: SavedFilters,
): Sql<{ count: number; ends: boolean }> {
  const { rows, values } = queueRows(view, viewer, filters);
  const text = `SELECT count(*) FILTER (WHERE fits)::int AS count,
      coalesce(bool_or(ends), false) AS ends FROM (${rows}) page`;
  return { name: hash('sha1', text), text, values };
}
