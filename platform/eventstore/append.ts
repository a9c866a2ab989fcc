import { defineInsert, defineRead } from '../batch-statements.ts';
import { fault } from '../fault.ts';
import { named, type Sql, sql } from '../sql.ts';
import type { Actor, NewEvent, RecordedEvent } from './event.ts';

/** Events for one stream. `version` is the stream version they were decided on; 0 if it is new. */
export interface Append {
  owner: string;
  stream: string;
  version: number;
  actor: Actor;
  events: readonly NewEvent[];
}

/** The version of a stream, from its events; 0 for a new stream. */
export function streamVersion(events: readonly RecordedEvent[]): number {
  return events.at(-1)?.stream_version ?? 0;
}

const insertEvent = defineInsert('events', {
  owner_id: 'uuid',
  stream_id: 'text',
  stream_version: 'int',
  event_id: 'uuid',
  type: 'text',
  data: 'jsonb',
  personal: 'jsonb',
  actor: 'jsonb',
  recorded_at: 'timestamptz',
});

/** Inserts an event. The unique index on (owner, stream, version) rejects a concurrent writer. */
export const appendStatement = (event: RecordedEvent): Sql => insertEvent(event);

/** Selects an event, if the transaction that recorded it was committed. */
export const findEvent = (event: RecordedEvent): Sql =>
  sql`SELECT FROM events WHERE owner_id = ${event.owner_id} AND stream_id = ${event.stream_id}
    AND stream_version = ${event.stream_version} AND event_id = ${event.event_id}`;

const streamEvents = defineRead<RecordedEvent>(
  { owner: 'uuid', stream: 'text' },
  ({ owner, stream }) => `SELECT * FROM events WHERE owner_id = ${owner} AND stream_id = ${stream}
    ORDER BY stream_version`,
);

/** Reads the events of one stream, oldest first. */
export const readStream = (owner: string, stream: string): Sql<RecordedEvent> =>
  streamEvents({ owner, stream });

const FACTS = `SELECT owner_id, stream_id, stream_version, position, event_id, type, data,
  NULL AS personal, actor, recorded_at FROM events`;

const streamFacts = defineRead<RecordedEvent>(
  { owner: 'uuid', stream: 'text' },
  ({ owner, stream }) => `${FACTS} WHERE owner_id = ${owner} AND stream_id = ${stream}
    ORDER BY stream_version`,
);

/** Reads the events of one stream for a decision, without their personal data, oldest first. */
export const readFacts = (owner: string, stream: string): Sql<RecordedEvent> =>
  streamFacts({ owner, stream });

/** Reads several streams of one owner like `readFacts`, one stream after the other. */
export const factsOfStreams = (owner: string, streams: readonly string[]): Sql<RecordedEvent> =>
  named(`${FACTS} WHERE owner_id = $1 AND stream_id = ANY($2) ORDER BY stream_id, stream_version`, [
    owner,
    streams,
  ]);

/** The stored outcome of a command with an idempotency key. */
export interface Receipt {
  owner: string;
  /** The namespace of `key`: the same key in another space is another receipt. */
  space: 'api' | 'register' | 'recover' | 'note' | 'session' | 'moderation';
  key: string;
  operation: string;
  route: string;
  bodyHash: string;
  bound: unknown;
  httpStatus: number;
  reply: unknown;
  eventIds: readonly string[];
}

const insertReceipt = defineInsert(
  'receipts',
  {
    owner_id: 'uuid',
    space: 'text',
    key: 'uuid',
    operation: 'text',
    route: 'text',
    body_hash: 'text',
    bound: 'jsonb',
    http_status: 'smallint',
    reply: 'json',
    event_ids: 'uuid[]',
    recorded_at: 'timestamptz',
  },
  fault('no-receipt') ? { key: ['owner_id', 'space', 'key'], action: 'DO NOTHING' } : undefined,
);

/** Inserts a receipt, recorded at `now`. */
export function receiptStatement(receipt: Receipt, now: Date): Sql {
  return insertReceipt({
    owner_id: receipt.owner,
    space: receipt.space,
    key: receipt.key,
    operation: receipt.operation,
    route: receipt.route,
    body_hash: receipt.bodyHash,
    bound: receipt.bound,
    http_status: receipt.httpStatus,
    reply: receipt.reply,
    event_ids: receipt.eventIds,
    recorded_at: now,
  });
}

export interface ReceiptRow {
  operation: string;
  route: string;
  body_hash: string;
  bound: unknown;
  http_status: number;
  reply: unknown;
}

const receiptByKey = defineRead<ReceiptRow>(
  { owner: 'uuid', space: 'text', key: 'uuid' },
  ({ owner, space, key }) =>
    `SELECT operation, route, body_hash, bound, http_status, reply FROM receipts
      WHERE owner_id = ${owner} AND space = ${space} AND key = ${key}`,
);

/** Reads the receipt of a key, if there is one. */
export const readReceipt = (owner: string, space: Receipt['space'], key: string): Sql<ReceiptRow> =>
  receiptByKey({ owner, space, key });

/** Selects a receipt, if the transaction that recorded it at `now` was committed. */
export const findReceipt = ({ owner, space, key }: Receipt, now: Date): Sql =>
  sql`SELECT FROM receipts WHERE owner_id = ${owner} AND space = ${space} AND key = ${key}
    AND recorded_at = ${now}`;

/** Counts the keyed hashes in receipts by server key. Scans all receipts. */
export function countReceipts(): Sql<{ key_id: number; count: number }> {
  return sql`SELECT (part.value->>'key_id')::int AS key_id, count(*)::int AS count
    FROM receipts, jsonb_each(bound) part
    WHERE jsonb_typeof(bound) = 'object' AND part.value ? 'key_id' GROUP BY 1`;
}
