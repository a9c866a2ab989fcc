import type { Actor, NewEvent, RecordedEvent } from './event.ts';
import { type Sql, sql } from './sql.ts';

/** Events for one stream. `version` is the stream's version they were decided on (0: it is new). */
export interface Append {
  owner: string;
  stream: string;
  version: number;
  actor: Actor;
  events: readonly NewEvent[];
}

export function streamVersion(events: readonly RecordedEvent[]): number {
  return events.at(-1)?.stream_version ?? 0;
}

/** The unique index on (owner, stream, version) is what refuses a second writer. */
export function appendStatement(event: RecordedEvent): Sql {
  return sql`INSERT INTO events
    (owner_id, stream_id, stream_version, event_id, type, data, personal, actor, recorded_at)
    VALUES (${event.owner_id}, ${event.stream_id}, ${event.stream_version}, ${event.event_id},
      ${event.type}, ${event.data}, ${event.personal}, ${event.actor}, ${event.recorded_at})`;
}

/** One stream, oldest first. */
export function readStream(owner: string, stream: string): Sql<RecordedEvent> {
  return sql`SELECT * FROM events WHERE owner_id = ${owner}::uuid AND stream_id = ${stream}::text
    ORDER BY stream_version`;
}

export interface Receipt {
  owner: string;
  /** Receipts with the same key in different spaces do not meet. */
  space: 'api' | 'register' | 'recover' | 'note' | 'guestbook' | 'moderation';
  key: string;
  operation: string;
  route: string;
  bodyHash: string;
  bound: unknown;
  httpStatus: number;
  reply: unknown;
  eventIds: readonly string[];
}

export function receiptStatement(receipt: Receipt, now: Date): Sql {
  return sql`INSERT INTO receipts
    (owner_id, space, key, operation, route, body_hash, bound, http_status, reply, event_ids, recorded_at)
    VALUES (${receipt.owner}, ${receipt.space}, ${receipt.key}, ${receipt.operation}, ${receipt.route},
      ${receipt.bodyHash}, ${receipt.bound === null ? null : JSON.stringify(receipt.bound)}, ${receipt.httpStatus},
      ${receipt.reply === null ? null : JSON.stringify(receipt.reply)}, ${receipt.eventIds}, ${now})`;
}

export interface ReceiptRow {
  operation: string;
  route: string;
  body_hash: string;
  bound: unknown;
  http_status: number;
  reply: unknown;
}

export function readReceipt(owner: string, space: Receipt['space'], key: string): Sql<ReceiptRow> {
  return sql`SELECT operation, route, body_hash, bound, http_status, reply FROM receipts
    WHERE owner_id = ${owner}::uuid AND space = ${space}::text AND key = ${key}::uuid`;
}

/** How many keyed hashes in receipts stand under each server key. It reads every receipt. */
export function countReceipts(): Sql<{ key_id: number; count: number }> {
  return sql`SELECT (part.value->>'key_id')::int AS key_id, count(*)::int AS count
    FROM receipts, jsonb_each(bound) part
    WHERE jsonb_typeof(bound) = 'object' AND part.value ? 'key_id' GROUP BY 1`;
}
