import type pg from 'pg';
import { publicActivity } from '../../projections/activity.ts';
import { isRefusal } from '../eventstore/decider.ts';
import { pageOf, placeOf } from '../http/place.ts';
import type { Handlers } from '../http/route.ts';
import { query } from '../postgres/reading.ts';
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
      const rows = await query(readPool, publicActivity(type, limit + 1, place));
      const page = pageOf(rows, limit, (last) => ({ at: last.place, id: last.entry_id }));
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
          next_cursor: page.next_cursor,
        },
      };
    },
  };
}
