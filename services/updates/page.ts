import { jsonText } from '../../platform/http/respond.ts';
import type { Content } from '../../platform/http/route.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { UpdatesRow } from '../../projections/updates/feed-page.ts';
import { writeCursor } from './cursor.ts';

export interface Page {
  empty: boolean;
  content: Content;
}

/** Builds the response of one read of the entries after the sequence `after`. */
export function toUpdatesPage(
  keys: KeyRing,
  memberId: string,
  after: number,
  row: UpdatesRow,
): Page {
  const last = row.last ?? after;
  const cursor = writeCursor(keys, memberId, { sequence: last, epoch: row.epoch });
  const text =
    `{"status":"ok","events":[${row.entries ?? ''}],` +
    `"next_cursor":"${cursor}","has_more":${last < row.head}}`;
  return { empty: row.last === null, content: jsonText(text) };
}
