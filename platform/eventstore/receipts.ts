import { defineInsert, defineRead } from '../batch-statements.ts';
import { fault } from '../fault.ts';
import { named, type Sql, sql } from '../sql.ts';
import type { Owner } from './owner.ts';

/** Who holds the receipts of each space. The space says the kind of the owner. */
export interface HolderOf {
  api: 'member';
  register: 'member';
  recover: 'member';
  /** Of a member's note the member, of a guest's note the note. */
  note: 'member' | 'guest_note';
  session: 'member';
  moderation: 'moderator';
}

/** The stored outcome of a command with an idempotency key. */
export interface Receipt {
  owner: Owner;
  /** The namespace of `key`: the same key in another space is another receipt. */
  space: keyof HolderOf;
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
export const readReceipt = <Space extends Receipt['space']>(
  { id }: Owner<HolderOf[Space]>,
  space: Space,
  key: string,
): Sql<ReceiptRow> => receiptByKey({ owner: id, space, key });

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

const FIRST: ReceiptPlace = { space: '', key: '00000000-0000-0000-0000-000000000000' };

/** A receipt in its owner's export, without the keyed hashes of secrets. */
export interface ExportedReceipt extends ReceiptPlace {
  operation: string;
  route: string;
  /** Null for a note: its hash is keyed, since a short text can be guessed from a plain hash. */
  body_hash: string | null;
  http_status: number;
  reply: unknown;
  event_ids: string[];
  recorded_at: Date;
}

/**
 * Selects the receipts of member $1, and none of a moderator with the same id. The receipt of a guest's
 * note is stored under the note's id, which may equal the member's too; the log says whether a guest
 * wrote the note.
 */
const OF_MEMBER = `owner_id = $1::uuid AND space <> 'moderation' AND (space <> 'note' OR key <> $1::uuid OR NOT EXISTS (
    SELECT FROM events WHERE owner_id = $1::uuid AND stream_id = 'note-' || $1::uuid
      AND stream_version = 1 AND actor->>'type' = 'guest'))`;

/** Reads a page of a member's receipts after `last`, ordered by space and key. */
export function receiptsAfter(
  memberId: string,
  last: ReceiptPlace | undefined,
  limit: number,
): Sql<ExportedReceipt> {
  return named(
    `SELECT space, key, operation, route, CASE WHEN space NOT IN ('note', 'session') THEN body_hash END AS body_hash,
      http_status, reply, event_ids, recorded_at
    FROM receipts WHERE ${OF_MEMBER} AND (space, key) > ($2, $3::uuid)
    ORDER BY space, key LIMIT $4`,
    [memberId, last?.space ?? FIRST.space, last?.key ?? FIRST.key, limit],
  );
}

/** Reads the places of a member's receipts that have contents, after `last` in their order. */
export function filledReceipts(
  memberId: string,
  last: ReceiptPlace | undefined,
  limit: number,
): Sql<ReceiptPlace> {
  return named(
    `SELECT space, key FROM receipts WHERE ${OF_MEMBER} AND (space, key) > ($2, $3::uuid)
      AND (reply IS NOT NULL OR bound IS NOT NULL OR body_hash <> '')
    ORDER BY space, key LIMIT $4`,
    [memberId, last?.space ?? FIRST.space, last?.key ?? FIRST.key, limit],
  );
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
