import type { View } from '../../../domain/moderation/words.ts';
import { type Sql, sql } from '../../../platform/sql.ts';
import { MAX_OWN_VIEWS, type SavedFilters, type ViewToSave } from './contract.ts';

export interface SavedViewRow {
  moderator_id: string;
  moderator_name: string | null;
  view_id: string;
  name: string;
  shared: boolean;
  view: View;
  filters: SavedFilters;
}

/** A moderator's own views, the first saved first, then what active moderators share, the newest first. */
export function visibleViews(moderatorId: string): Sql<SavedViewRow> {
  return sql`SELECT v.moderator_id, m.name AS moderator_name, v.view_id, v.name, v.shared, v.view,
      v.filters
    FROM ((SELECT *, 1 AS part, extract(epoch FROM saved_at) AS place FROM saved_views
        WHERE moderator_id = ${moderatorId})
      UNION ALL (SELECT s.*, 2, -extract(epoch FROM saved_at) FROM saved_views s
        JOIN moderators o USING (moderator_id)
        WHERE s.shared AND s.moderator_id <> ${moderatorId} AND o.state = 'active'
        ORDER BY s.saved_at DESC, s.view_id LIMIT ${MAX_OWN_VIEWS})) v
    JOIN moderators m USING (moderator_id)
    ORDER BY v.part, v.place, v.view_id`;
}

/** The ids of a moderator's own views. */
export function ownViewIds(moderatorId: string): Sql<{ view_id: string }> {
  return sql`SELECT view_id FROM saved_views WHERE moderator_id = ${moderatorId}`;
}

/** Saves a view; one that is saved again keeps its place. */
export function saveView(
  moderatorId: string,
  viewId: string,
  { name, shared, view, filters }: ViewToSave,
): Sql {
  return sql`INSERT INTO saved_views (moderator_id, view_id, name, shared, view, filters, saved_at)
    VALUES (${moderatorId}, ${viewId}, ${name}, ${shared}, ${view}, ${JSON.stringify(filters)}::jsonb,
      clock_timestamp())
    ON CONFLICT (moderator_id, view_id) DO UPDATE SET name = excluded.name,
      shared = excluded.shared, view = excluded.view, filters = excluded.filters`;
}

export function deleteView(moderatorId: string, viewId: string): Sql {
  return sql`DELETE FROM saved_views WHERE moderator_id = ${moderatorId} AND view_id = ${viewId}`;
}
