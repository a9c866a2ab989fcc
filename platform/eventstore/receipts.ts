import { named, type Sql } from '../sql.ts';

/** A receipt in its owner's export, without the keyed hashes of secrets. */
export interface ExportedReceipt {
  space: string;
  key: string;
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
 * Selects the receipts of member $1. The receipt of a guest's note is stored under the note's id,
 * which may equal a member's id; the log says whether a guest wrote the note.
 */
const OF_MEMBER = `owner_id = $1::uuid AND (space <> 'note' OR key <> $1::uuid OR NOT EXISTS (
    SELECT FROM events WHERE owner_id = $1::uuid AND stream_id = 'note-' || $1::uuid
      AND stream_version = 1 AND actor->>'type' = 'guest'))`;

/** Reads a page of a member's receipts after `last`, ordered by space and key. */
export function receiptsAfter(
  memberId: string,
  last: Pick<ExportedReceipt, 'space' | 'key'> | undefined,
  limit: number,
): Sql<ExportedReceipt> {
  return named(
    `SELECT space, key, operation, route, CASE WHEN space <> 'note' THEN body_hash END AS body_hash,
      http_status, reply, event_ids, recorded_at
    FROM receipts WHERE ${OF_MEMBER} AND (space, key) > ($2, $3::uuid)
    ORDER BY space, key LIMIT $4`,
    [memberId, last?.space ?? '', last?.key ?? '00000000-0000-0000-0000-000000000000', limit],
  );
}

/**
 * Erases the contents of a batch of a member's receipts; the record that the operation ran stays.
 * Body hashes are erased too, since a short body can be guessed from a plain hash. Returns one row
 * per receipt.
 */
export function emptyReceipts(memberId: string, limit: number): Sql {
  return named(
    `UPDATE receipts SET reply = NULL, bound = NULL, body_hash = ''
    WHERE owner_id = $1::uuid AND (space, key) IN (SELECT space, key FROM receipts
      WHERE ${OF_MEMBER} AND (reply IS NOT NULL OR bound IS NOT NULL OR body_hash <> '')
      LIMIT $2) RETURNING 1`,
    [memberId, limit],
  );
}
