import { panelState } from '../in-progress/panel-state.ts';
import { isDecidedHere, isDeciding, isOutdated } from '../in-progress/sent.ts';
import { connectionState } from '../session/connection.ts';
import { appealOf, type Item, isNote, reportsOf } from '../words/api-model.ts';
import { awaitCounts } from './counts.ts';
import { isListCurrent, listNumber, readItems } from './list-page.ts';
import { currentList, placeState, queueState } from './queue-state.ts';
import { refreshItem } from './read-item.ts';

const SYNC_MS = 250;
const MAX_IDS_IN_REQUEST = 50;
/** After a longer absence so many rows may have gone that each is dropped instead of explained. */
const MAX_EXPLAINED_ROWS = 20;

let changedIds = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads an item again in 250 ms, together with others that change until then. */
export function scheduleSync(id: string): void {
  changedIds.add(id);
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    // The page that is being read may be older than the change.
    if (queueState().loading) for (const one of changedIds) scheduleSync(one);
    else void syncChanged();
  }, SYNC_MS);
}

async function syncChanged(): Promise<void> {
  const ids = [...changedIds];
  changedIds = new Set();
  for (let from = 0; from < ids.length; from += MAX_IDS_IN_REQUEST)
    await syncItems(ids.slice(from, from + MAX_IDS_IN_REQUEST));
}

/** Asks which of these items are in the list, and shows the answer in their rows alone. */
async function syncItems(ids: readonly string[]): Promise<void> {
  const number = listNumber();
  const showCounts = awaitCounts();
  try {
    const { items, counts } = await readItems(ids);
    if (!isListCurrent(number)) return;
    showCounts(counts);
    mergeItems(items, ids, queueState().nextCursor === null);
  } catch {
    // Keep the rows; the top bar shows a lost connection, and the next refresh tries again.
  }
}

/**
 * Merges items of the list that were read again. A shown row is replaced in place. A row that was
 * asked for and has left the list stays, dimmed. An item that belongs at the end is appended if
 * `append` is set; one that belongs between the rows waits for `showArrivals`.
 */
export function mergeItems(
  fresh: readonly Item[],
  asked: readonly string[],
  append: boolean,
): void {
  const { items, gone, arrivals, selected } = queueState();
  const { focusId } = placeState();
  const { panel } = panelState();
  const byId = new Map(fresh.map((item) => [item.id, item]));
  const shown = new Set(items.map(({ id }) => id));
  const missing = asked.filter(
    (id) => shown.has(id) && !byId.has(id) && !gone.has(id) && !isDeciding(id),
  );
  const explained = missing.filter(
    (id) =>
      id === focusId ||
      id === panel?.itemId ||
      (!isDecidedHere(id) && missing.length <= MAX_EXPLAINED_ROWS),
  );
  const dropped = new Set(missing.filter((id) => !explained.includes(id)));
  const nowGone = new Set([...gone, ...explained].filter((id) => !byId.has(id)));
  const rows = items.filter(({ id }) => !dropped.has(id)).map((item) => byId.get(item.id) ?? item);
  const last = items.findLast(({ id }) => !gone.has(id));
  const waiting = new Map(arrivals.map((item) => [item.id, item]));
  for (const id of asked) waiting.delete(id);
  for (const item of fresh) {
    if (shown.has(item.id)) continue;
    // An outdated answer must not bring back an item that was decided here.
    if (isOutdated(item) && currentList() !== 'decided') continue;
    if (!last || compareItems(last, item) <= 0) {
      if (append || !last) rows.push(item);
    } else waiting.set(item.id, item);
  }
  queueState.set({
    items: rows,
    gone: nowGone,
    arrivals: [...waiting.values()],
    selected: new Set([...selected].filter((id) => !nowGone.has(id) && !dropped.has(id))),
  });
  // The row says what happened to its item.
  for (const id of explained) void refreshItem(id);
}

/** Inserts the items that wait for it at their places, and drops the rows that have gone. */
export function showArrivals(): void {
  const rows = [...queueState().items];
  for (const item of queueState().arrivals) {
    const place = rows.findIndex((row) => compareItems(row, item) > 0);
    rows.splice(place < 0 ? rows.length : place, 0, item);
  }
  queueState.set({ items: rows, arrivals: [] });
  dropGone();
}

/** Drops the dimmed rows, except the present one. */
export function dropGone(): void {
  const { gone, items } = queueState();
  const { focusId } = placeState();
  const { panel } = panelState();
  if (gone.size === 0) return;
  const kept = (id: string) => id === focusId || id === panel?.itemId;
  queueState.set({
    items: items.filter(({ id }) => !gone.has(id) || kept(id)),
    gone: new Set([...gone].filter(kept)),
  });
}

/** Forgets that a row has gone, after its item came back or was removed. */
export function forgetGone(id: string): void {
  if (queueState().gone.has(id))
    queueState.set({ gone: new Set([...queueState().gone].filter((one) => one !== id)) });
}

/** Compares items by their places in the current list, to the millisecond. */
function compareItems(one: Item, other: Item): number {
  const view = currentList();
  const { me } = connectionState();
  const { filters } = placeState();
  const mixed = view === 'todo' && (me?.role === 'lead' || filters.q !== '');
  const [left, right] = [one, other].map((item) => {
    const tier = mixed && isNote(item) && item.tier !== 'lead' ? '1' : '0';
    return `${tier} ${timeInView(item)}`;
  }) as [string, string];
  const order = left < right ? -1 : left > right ? 1 : 0;
  return view === 'decided' ? -order : order;
}

/** The time that the list is ordered by; the service orders by the same time. */
function timeInView(item: Item): string {
  const note = isNote(item) ? item : null;
  switch (currentList()) {
    case 'reported':
      return (
        reportsOf(item)
          .filter(({ state }) => state === 'open')
          .at(-1)?.reported_at ?? item.received_at
      );
    case 'appeals':
      return appealOf(item)?.opened_at ?? item.received_at;
    case 'deferred':
      return note?.deferred_until ?? item.received_at;
    case 'decided':
      return item.decision?.decided_at ?? item.received_at;
    default:
      return item.received_at;
  }
}
