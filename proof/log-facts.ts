import type pg from 'pg';

/** An event of the log. `at` is in milliseconds since the epoch. */
export interface EventFact {
  position: number;
  id: string;
  owner: string;
  stream: string;
  version: number;
  type: string;
  data: Record<string, unknown>;
  actor: string;
  at: number;
}

export interface ReceiptFact {
  owner: string;
  space: string;
  key: string;
  operation: string;
  events: readonly string[];
  at: number;
}

export interface FeedFact {
  member: string;
  sequence: number;
  id: string;
}

/** The contents of storage after a run. */
export interface LogFacts {
  events: readonly EventFact[];
  receipts: readonly ReceiptFact[];
  feed: readonly FeedFact[];
}

export async function readLogFacts(pool: pg.Pool): Promise<LogFacts> {
  const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8 AS at`;
  const [events, receipts, feed] = await Promise.all([
    pool.query<EventFact>(`SELECT position::float8, event_id AS id, owner_id AS owner,
      stream_id AS stream, stream_version AS version, type, data, actor->>'type' AS actor,
      ${millis('recorded_at')} FROM events ORDER BY position`),
    pool.query<ReceiptFact>(`SELECT owner_id AS owner, space, key, operation, event_ids AS events,
      ${millis('recorded_at')} FROM receipts`),
    pool.query<FeedFact>(`SELECT member_id AS member, sequence::float8, event_id AS id FROM feed
      ORDER BY member_id, sequence`),
  ]);
  return { events: events.rows, receipts: receipts.rows, feed: feed.rows };
}
