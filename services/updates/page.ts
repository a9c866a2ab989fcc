import { jsonText } from '../../platform/http/respond.ts';
import type { Content } from '../../platform/http/route.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { UpdatesRow } from '../../projections/updates/feed-page.ts';
import { type FeedPosition, writeCursor } from './cursor.ts';

export interface UpdatesResponse {
  empty: boolean;
  /** Where the next page begins. */
  next: FeedPosition;
  hasMore: boolean;
  content: Content;
}

/** Builds the response of one read of the entries after the sequence `after`. */
export function toUpdatesPage(
  keys: KeyRing,
  memberId: string,
  after: number,
  row: UpdatesRow,
): UpdatesResponse {
  const next = { sequence: row.through ?? row.last ?? after, epoch: row.epoch };
  const hasMore = next.sequence < row.head;
  const text =
    `{"status":"ok","events":[${row.entries ?? ''}],` +
    `"next_cursor":"${writeCursor(keys, memberId, next)}","has_more":${hasMore}}`;
  return { empty: row.last === null, next, hasMore, content: jsonText(text) };
}
