import type pg from 'pg';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { publicActivity } from '../../projections/activity/activity.ts';
import { activityContract } from './contract.ts';

export interface ActivityDeps {
  readPool: pg.Pool;
}

function activityHandlers({ readPool }: ActivityDeps): Handlers<typeof activityContract> {
  return {
    'activity.list': async ({ query: { type, cursor, limit } }) => {
      const place = toKeysetPosition('activity', cursor);
      if (isRefusal(place)) return place;
      const rows = await query(readPool, publicActivity(type, limit + 1, place));
      const page = toPage('activity', rows, limit, (last) => ({
        at: last.place,
        id: last.entry_id,
      }));
      return {
        status: 200,
        body: {
          status: 'ok',
          entries: page.rows.map((row) => ({
            id: row.entry_id,
            type: row.type,
            occurred_at: row.occurred_at.toISOString(),
            actor: row.actor,
            subject: { type: row.subject_type, id: row.subject_id },
            title: row.title,
          })),
          ...page.next,
        },
      };
    },
  };
}

export const routes = (deps: ActivityDeps): readonly Routes[] => [
  implement(activityContract, activityHandlers(deps)),
];
