import { named, type Sql } from '../sql.ts';

/** A receipt as its owner may see it: without the keyed hashes that it binds secrets by. */
export interface ShownReceipt {
  space: string;
  key: string;
  operation: string;
  route: string;
  /** Null where it is such a hash itself: a note's, whose short text could be guessed from a plain one. */
  body_hash: string | null;
  http_status: number;
  reply: unknown;
  event_ids: string[];
  recorded_at: Date;
}

/**
 * Receipts of a member, $1. A guest's note stands under its own id, which may be a member's as well:
 * the log says whose it is.
 */
const OF_MEMBER = `owner_id = $1::uuid AND (space <> 'note' OR key <> $1::uuid OR NOT EXISTS (
    SELECT FROM events WHERE owner_id = $1::uuid AND stream_id = 'note-' || $1::uuid
      AND stream_version = 1 AND actor->>'type' = 'guest'))`;

/** A member's receipts after one of them, in the order of their keys. */
export function receiptsAfter(
  memberId: string,
  last: Pick<ShownReceipt, 'space' | 'key'> | undefined,
  limit: number,
): Sql<ShownReceipt> {
  return named(
    `SELECT space, key, operation, route, CASE WHEN space <> 'note' THEN body_hash END AS body_hash,
      http_status, reply, event_ids, recorded_at
    FROM receipts WHERE ${OF_MEMBER} AND (space, key) > ($2, $3::uuid)
    ORDER BY space, key LIMIT $4`,
    [memberId, last?.space ?? '', last?.key ?? '00000000-0000-0000-0000-000000000000', limit],
  );
}

/**
 * Drops what receipts of a member say, a batch at a time, one row for each; that the operation was
 * done stays. A plain hash of a short body would tell what was in it, so it goes too.
 */
export function emptyReceipts(memberId: string, limit: number): Sql {
  return named(
    `UPDATE receipts SET reply = NULL, bound = NULL, body_hash = ''
    WHERE (owner_id, space, key) IN (SELECT owner_id, space, key FROM receipts
      WHERE ${OF_MEMBER} AND (reply IS NOT NULL OR bound IS NOT NULL OR body_hash <> '')
      LIMIT $2) RETURNING 1`,
    [memberId, limit],
  );
}
