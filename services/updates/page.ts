import type { z } from 'zod';
import type { UpdateRow } from '../../projections/feed/updates.ts';
import { jsonContent } from '../http/respond.ts';
import type { Content } from '../http/route.ts';
import type { KeyRing } from '../keys.ts';
import type { UpdateEvent, UpdatesPage } from './contract.ts';
import { writeCursor } from './cursor.ts';

export interface Page {
  count: number;
  content: Content;
}

/** The answer of one read: rows after `after`, or the one row that says that there are none. */
export function pageOf(
  keys: KeyRing,
  memberId: string,
  after: number,
  rows: readonly UpdateRow[],
): Page {
  const events = rows.flatMap((row) => (row.sequence === null ? [] : [eventOf(row, row.sequence)]));
  const last = events.at(-1)?.sequence ?? after;
  const body: z.input<typeof UpdatesPage> = {
    status: 'ok',
    events,
    next_cursor: writeCursor(keys, memberId, last),
    has_more: last < (rows[0]?.head ?? 0),
  };
  return { count: events.length, content: jsonContent(body) };
}

function eventOf(row: UpdateRow, sequence: number): z.input<typeof UpdateEvent> {
  return {
    id: row.event_id,
    sequence,
    type: row.type,
    occurred_at: row.occurred_at.toISOString(),
    subject: { type: row.subject_type, id: row.subject_id },
    actor: row.actor,
    data: row.data,
  };
}
