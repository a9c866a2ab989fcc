import type { ReceiptPlace } from '../../platform/eventstore/receipts.ts';
import { named, type Sql } from '../../platform/sql.ts';

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
