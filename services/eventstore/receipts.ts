import { type Sql, sql } from './sql.ts';

/** A receipt as its owner may see it: without the keyed hashes that it binds secrets by. */
export interface ShownReceipt {
  space: string;
  key: string;
  operation: string;
  route: string;
  body_hash: string;
  http_status: number;
  reply: unknown;
  event_ids: string[];
  recorded_at: Date;
}

/** An owner's receipts after one of them, in the order of their keys. */
export function receiptsAfter(
  owner: string,
  last: Pick<ShownReceipt, 'space' | 'key'> | undefined,
  limit: number,
): Sql {
  return sql`SELECT space, key, operation, route, body_hash, http_status, reply, event_ids, recorded_at
    FROM receipts WHERE owner_id = ${owner}
      AND (space, key) > (${last?.space ?? ''}, ${last?.key ?? '00000000-0000-0000-0000-000000000000'}::uuid)
    ORDER BY space, key LIMIT ${limit}`;
}

/**
 * Drops what receipts of an owner say, a batch at a time, one row for each; that the operation was
 * done stays. A plain hash of a short body would tell what was in it, so it goes too.
 */
export function emptyReceipts(owner: string, limit: number): Sql {
  return sql`UPDATE receipts SET reply = NULL, bound = NULL, body_hash = ''
    WHERE (owner_id, space, key) IN (SELECT owner_id, space, key FROM receipts
      WHERE owner_id = ${owner} AND (reply IS NOT NULL OR bound IS NOT NULL OR body_hash <> '')
      LIMIT ${limit}) RETURNING 1`;
}
