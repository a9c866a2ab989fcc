import type pg from 'pg';
import { type ActivityRow, publicActivity } from '../../projections/activity.ts';
import { isRefusal } from '../eventstore/decider.ts';
import { placeOf, writePlace } from '../http/place.ts';
import type { Handlers } from '../http/route.ts';
import { query } from '../postgres.ts';
import type { activityContract } from './contract.ts';

export function activityHandlers({
  readPool,
}: {
  readPool: pg.Pool;
}): Handlers<typeof activityContract> {
  return {
    'activity.list': async ({ query: { type, cursor, limit } }) => {
      const place = placeOf(cursor);
      if (isRefusal(place)) return place;
      const rows = await query<ActivityRow>(readPool, publicActivity(type, limit + 1, place));
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        status: 200,
        body: {
          status: 'ok',
          entries: page.map((row) => ({
            id: row.entry_id,
            type: row.type,
            occurred_at: row.occurred_at.toISOString(),
            actor: row.actor,
            subject: { type: row.subject_type, id: row.subject_id },
            title: row.title,
          })),
          next_cursor: last ? writePlace({ at: last.place, id: last.entry_id }) : null,
        },
      };
    },
  };
}
