import type pg from 'pg';
import { newestPosition } from '../../../platform/eventstore/subscription.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { toPage } from '../../../platform/keyset-cursor.ts';
import { query } from '../../../platform/postgres/query.ts';
import { withDeadline } from '../../../platform/postgres/request-deadline.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type AuditRow, auditAfter, auditBefore } from '../../../projections/moderation/audit.ts';
import { reviewSubject } from '../decisions/review-events.ts';
import { type auditContract, type Entry, NDJSON } from './contract.ts';

const BATCH = 500;

type Order = 'oldest' | 'newest';

export function auditHandlers({ pool }: { pool: pg.Pool }): Handlers<typeof auditContract> {
  const read = (order: Order, from: number | undefined, limit: number) =>
    query(
      pool,
      order === 'oldest' ? auditAfter(from ?? 0, limit) : auditBefore(from ?? null, limit),
    );

  /** Streams all entries that exist at the start, in batches, so that any length fits in memory. */
  async function* lines(order: Order, from: number | undefined): AsyncGenerator<string> {
    const [end] = await query(pool, newestPosition());
    for (let place = from; ; ) {
      // Each batch has the full deadline of a request.
      const rows = await withDeadline(() => read(order, place, BATCH));
      const wanted = rows.filter(({ position }) => position <= (end?.position ?? 0));
      if (wanted.length > 0)
        yield wanted.map((row) => `${JSON.stringify(entryBody(row))}\n`).join('');
      place = rows.at(-1)?.position;
      const over = order === 'oldest' && (place ?? 0) >= (end?.position ?? 0);
      if (rows.length < BATCH || over) return;
    }
  }

  return {
    'moderation.audit': async ({ query: { cursor, limit, order, format }, request }) => {
      const from = cursor === undefined ? undefined : readCursor(cursor, order);
      if (cursor !== undefined && from === undefined) return refuse('invalid_cursor');
      const asked = format ?? (request.accept?.includes(NDJSON) ? 'ndjson' : 'json');
      if (asked === 'ndjson') return { status: 200, stream: lines(order, from), type: NDJSON };
      const rows = await read(order, from, limit + 1);
      const page = toPage(rows, limit, (last) => writeCursor(last.position, order));
      return {
        status: 200,
        body: {
          status: 'ok',
          entries: page.rows.map(entryBody),
          next_cursor: page.next_cursor,
        },
      };
    },
  };
}

function writeCursor(position: number, order: Order): string {
  return Buffer.from(`${order} ${position}`).toString('base64url');
}

function readCursor(cursor: string, order: Order): number | undefined {
  const [, position] =
    /^[a-z]+ (\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const place = Number(position);
  return position && writeCursor(place, order) === cursor ? place : undefined;
}

function entryBody(row: AuditRow): Entry {
  return {
    position: row.position,
    id: row.event_id,
    type: row.type,
    occurred_at: row.recorded_at.toISOString(),
    actor: { ...row.actor, ...(row.actor_name === null ? {} : { name: row.actor_name }) },
    subject: reviewSubject(row.stream_id),
    version: row.stream_version,
    data: row.data,
  };
}
