import type { PrincipalOf } from '../http/principal.ts';
import { query } from '../postgres.ts';
import type { Item } from './item.ts';
import { itemBodies } from './item-bodies.ts';
import type { ItemRow } from './item-rows.ts';
import type { ModerationParts } from './parts.ts';
import { type Filters, type QueuePlace, queuePage, type View } from './queue.ts';
import type { RecordItem } from './record-item.ts';
import { recordItems, type WaitingRow, waitingRecords } from './reported.ts';

/** A note, or a record that was reported, where the view has it. */
type Entry = { place: QueuePlace } & ({ note: ItemRow } | { record: WaitingRow });

type Me = PrincipalOf<'moderator'>;

/** The next entries of a view: notes, and among the reported ones whatever else was reported. */
export async function entriesOf(
  { pool }: ModerationParts,
  me: Me,
  view: View,
  filters: Filters,
  limit: number,
  after: QueuePlace | undefined,
): Promise<Entry[]> {
  const others = view === 'reported' ? waitingRecords(filters, limit, after) : undefined;
  const [rows, waiting] = await Promise.all([
    query<ItemRow>(pool, queuePage(view, me, filters, limit, after)),
    others ? query<WaitingRow & Record<string, unknown>>(pool, others) : [],
  ]);
  const notes = rows.map((note) => ({
    place: { tier: note.place_tier, at: note.place, id: note.note_id },
    note,
  }));
  const records = waiting.map((record) => ({
    place: { tier: '', at: record.place, id: record.subject_id },
    record,
  }));
  if (records.length === 0) return notes;
  return [...notes, ...records].sort(byPlace).slice(0, limit);
}

/** Times are written alike, to the microsecond, and ids in lowercase, so both sort as text. */
function byPlace({ place: one }: Entry, { place: other }: Entry): number {
  const [left, right] = [`${one.at} ${one.id}`, `${other.at} ${other.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

export async function itemsOf(
  parts: ModerationParts,
  me: Me,
  page: readonly Entry[],
): Promise<(Item | RecordItem)[]> {
  const notes = page.flatMap((entry) => ('note' in entry ? [entry.note] : []));
  const waiting = page.flatMap((entry) => ('record' in entry ? [entry.record] : []));
  const [bodies, records] = await Promise.all([
    itemBodies(parts, me, notes),
    recordItems(parts, me, waiting),
  ]);
  const ofNotes = bodies.values();
  return page.flatMap((entry) => {
    const item =
      'note' in entry
        ? ofNotes.next().value
        : records.get(`${entry.record.subject_type} ${entry.record.subject_id}`);
    return item ? [item] : [];
  });
}
