import { conflict } from '../../../domain/conflict.ts';
import { defineCommand, handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { query } from '../../../platform/postgres/query.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import { byModerator } from '../staff/by-moderator.ts';
import {
  MAX_COUNTED_VIEWS,
  MAX_OWN_VIEWS,
  type SavedView,
  type ViewToSave,
  type viewsContract,
} from './contract.ts';
import { countView } from './count-view.ts';
import { deleteView, ownViewIds, saveView, visibleViews } from './saved-views.ts';

export function viewsHandlers(deps: ModerationDeps): Handlers<typeof viewsContract> {
  const { pool, store } = deps;
  return {
    'moderation.views': async ({ principal: me }) => {
      const views: SavedView[] = [];
      for (const row of await query(pool, visibleViews(me.moderatorId))) {
        const { moderator_id, view, filters } = row;
        // One after the other: a request takes one connection at a time, or two.
        const counted = views.length < MAX_COUNTED_VIEWS;
        views.push({
          id: row.view_id,
          name: row.name,
          shared: row.shared,
          mine: moderator_id === me.moderatorId,
          moderator: { id: moderator_id, name: row.moderator_name ?? '' },
          view,
          filters,
          count: counted ? await countView(deps, me, view, filters) : null,
        });
      }
      return { status: 200, body: { status: 'ok', views } };
    },

    'moderation.save_view': (call) => {
      const { moderatorId } = call.principal;
      // The moderator's row is locked, so that the limit holds.
      return handle(
        store,
        byModerator(call, 'alone'),
        save(moderatorId, call.params.view_id, call.body),
      );
    },

    'moderation.delete_view': (call) => {
      const { moderatorId } = call.principal;
      return handle(store, byModerator(call, 'alone'), remove(moderatorId, call.params.view_id));
    },
  };
}

const save = (moderatorId: string, viewId: string, wanted: ViewToSave) =>
  defineCommand({
    load: { own: ownViewIds(moderatorId) },
    decide({ own }) {
      if (!own.some(({ view_id }) => view_id === viewId) && own.length >= MAX_OWN_VIEWS)
        return conflict('view_limit');
      return {
        appends: [],
        changesRows: true,
        rows: [saveView(moderatorId, viewId, wanted)],
        reply: () => ({ status: 200 as const, body: { status: 'saved' as const, id: viewId } }),
      };
    },
  });

const remove = (moderatorId: string, viewId: string) =>
  defineCommand({
    load: { own: ownViewIds(moderatorId) },
    decide({ own }) {
      if (!own.some(({ view_id }) => view_id === viewId)) return refuse('not_found');
      return {
        appends: [],
        changesRows: true,
        rows: [deleteView(moderatorId, viewId)],
        reply: () => ({ status: 200 as const, body: { status: 'deleted' as const, id: viewId } }),
      };
    },
  });
