import { type Subject, subjectKey } from '../../../domain/moderation/subject.ts';
import type { View } from '../../../domain/moderation/words.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { presentReads } from '../../../platform/postgres/reads.ts';
import type { ModerationDeps } from './deps.ts';
import type { Item } from './item.ts';
import { itemBodies, readNotesBodies } from './item-bodies.ts';
import type { ItemRow } from './item-rows.ts';
import type { FoldRow } from './live-folds.ts';
import type { MemberItem } from './member-item.ts';
import { type Filters, hasNotes, isNewestFirst, type QueuePlace } from './queue.ts';
import { queuePage } from './queue-page.ts';
import type { RecordItem } from './record-item.ts';
import { listReported, type RecordPlace, recordItems } from './reported-records.ts';

/** A note, a record or a membership, with its place in the view's order. */
type Entry = { place: QueuePlace } & ({ note: ItemRow } | { record: RecordPlace });

type Me = PrincipalOf<'moderator'>;

export interface Entries {
  entries: Entry[];
  /** The last place that was scanned, if the scan stopped before the end of the view. */
  lookedTo: QueuePlace | undefined;
}

/** The statements for the next entries of a view, notes and then records and memberships, and how they are merged. */
export function nextEntries(
  { membershipReview }: Pick<ModerationDeps, 'membershipReview'>,
  me: Me,
  view: View,
  filters: Filters,
  limit: number,
  after: QueuePlace | undefined,
) {
  const statements = [
    hasNotes(filters) ? queuePage(view, me, filters, limit, after) : undefined,
    listReported(view, me, filters, limit, after, membershipReview.openAppeals),
  ] as const;

  function toEntries(rows: readonly ItemRow[], waiting: readonly RecordPlace[]): Entries {
    const notes = rows.map((note) => ({
      place: { tier: note.place_tier, at: note.place, id: note.note_id },
      note,
    }));
    const records = waiting.map((record) => ({
      place: { tier: '', at: record.place, id: record.subject_id },
      record,
    }));
    const all: Entry[] = records.length === 0 ? notes : [...notes, ...records].sort(byPlace);
    if (records.length > 0 && isNewestFirst(view, filters)) all.sort(byTimeBackwards);
    const entries = all.slice(0, limit);
    const end = entries.findIndex((entry) => 'note' in entry && entry.note.place_ends);
    const last = entries[end];
    if (!last) return { entries, lookedTo: undefined };
    const fits = 'note' in last && last.note.place_fits;
    return { entries: entries.slice(0, fits ? end + 1 : end), lookedTo: last.place };
  }

  return { statements, toEntries };
}

/** Compares as text: all times have the same format, to the microsecond, and ids are lowercase. */
function byPlace({ place: one }: Entry, { place: other }: Entry): number {
  const [left, right] = [`${one.at} ${one.id}`, `${other.at} ${other.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

const byTimeBackwards = ({ place: one }: Entry, { place: other }: Entry): number =>
  one.at < other.at ? 1 : one.at > other.at ? -1 : 0;

export async function listItems(
  deps: ModerationDeps,
  me: Me,
  page: readonly Entry[],
  folds: readonly FoldRow[],
): Promise<(Item | RecordItem | MemberItem)[]> {
  const notes = page.flatMap((entry) => ('note' in entry ? [entry.note] : []));
  const waiting = page.flatMap((entry) => ('record' in entry ? [entry.record] : []));
  const [bodies, records] = await Promise.all([
    itemBodies(ofPresent(deps), me, notes, folds),
    recordItems(deps, me, waiting),
  ]);
  const ofNotes = bodies.values();
  return page.flatMap((entry) => {
    const item =
      'note' in entry
        ? ofNotes.next().value
        : records.get(subjectKey({ type: entry.record.subject_type, id: entry.record.subject_id }));
    return item ? [item] : [];
  });
}

const ofPresent = ({ config, pool }: ModerationDeps) => ({ config, reads: presentReads(pool) });

/** Creates a read of the items under leases, keyed by kind and id. */
export function readHeldItems(deps: ModerationDeps) {
  const notesBodies = readNotesBodies(deps.pool, deps.config);
  return async (
    me: Me,
    leases: readonly { note_id: string | null; subject: Subject }[],
  ): Promise<Map<string, Item | RecordItem | MemberItem>> => {
    const ids = leases.flatMap(({ note_id }) => note_id ?? []);
    const others = leases.flatMap(({ subject: { type, id } }) =>
      type === 'note' ? [] : [{ subject_type: type, subject_id: id }],
    );
    const [notes, records] = await Promise.all([
      notesBodies(me, ids),
      recordItems(deps, me, others),
    ]);
    return new Map<string, Item | RecordItem | MemberItem>([
      ...notes.map((item) => [subjectKey({ type: 'note', id: item.id }), item] as const),
      ...records,
    ]);
  };
}
