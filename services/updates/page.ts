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
  /** The reply, with the cursor of the next page where there is one now. */
  reply: { status: 200; content: Content; next?: string };
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
  const cursor = writeCursor(keys, memberId, next);
  const content = jsonText(
    `{"status":"ok","events":[${row.entries ?? ''}],"next_cursor":"${cursor}","has_more":${hasMore}}`,
  );
  const reply = { status: 200 as const, content, ...(hasMore ? { next: cursor } : {}) };
  return { empty: row.last === null, next, hasMore, reply };
}
