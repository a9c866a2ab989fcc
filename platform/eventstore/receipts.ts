import { fault } from '../fault.ts';
import { defineInsert, defineRead } from '../postgres/batch-statements.ts';
import { type Sql, sql } from '../sql.ts';
import type { Owner } from './owner.ts';

/** The stored outcome of a command with an idempotency key. */
export interface Receipt {
  owner: Owner;
  /** The namespace of `key`: the same key in another space is another receipt. */
  space: string;
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
  fault('no-receipt') ? { key: ['owner_id', 'space', 'key'], conflict: 'DO NOTHING' } : undefined,
);

/** Inserts a receipt, recorded at `now`. */
export function receiptStatement(receipt: Receipt, now: Date): Sql {
  return insertReceipt({
    owner_id: receipt.owner.id,
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
export const readReceipt = ({ id }: Owner, space: string, key: string): Sql<ReceiptRow> =>
  receiptByKey({ owner: id, space, key });

/** Selects a receipt, if the transaction that recorded it at `now` was committed. */
export const findReceipt = ({ owner, space, key }: Receipt, now: Date): Sql =>
  sql`SELECT FROM receipts WHERE owner_id = ${owner.id} AND space = ${space} AND key = ${key}
    AND recorded_at = ${now}`;

/** Counts the keyed hashes in receipts by server key. Scans all receipts. */
export function countReceipts(): Sql<{ key_id: number; count: number }> {
  return sql`SELECT (part.value->>'key_id')::int AS key_id, count(*)::int AS count
    FROM receipts, jsonb_each(bound) part
    WHERE jsonb_typeof(bound) = 'object' AND part.value ? 'key_id' GROUP BY 1`;
}

/** The place of a receipt among those of its owner. */
export interface ReceiptPlace {
  space: string;
  key: string;
}

/**
 * Erases the contents of these receipts; the record that the operation ran stays. Body hashes are
 * erased too, since a short body can be guessed from a plain hash.
 */
export function emptyReceipts(ownerId: string, receipts: readonly ReceiptPlace[]): Sql {
  return sql`UPDATE receipts SET reply = NULL, bound = NULL, body_hash = ''
    WHERE owner_id = ${ownerId} AND (space, key) IN (SELECT * FROM unnest(
      ${receipts.map(({ space }) => space)}::text[], ${receipts.map(({ key }) => key)}::uuid[]))`;
}
