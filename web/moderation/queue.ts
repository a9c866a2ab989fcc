import { failureOf } from './api.ts';
import { isOutdated } from './decided-here.ts';
import { leavePanel } from './leases.ts';
import { type Page, readPage, shownOf } from './list-page.ts';
import { ask, reread } from './reread.ts';
import { current, type Filters, get, itemOf, listView, NO_FILTERS, set, viewOf } from './state.ts';
import { type Item, isList, type View } from './wire.ts';
import { failureWords } from './words.ts';

const PAGE = 50;
/** Maximum number of consecutive pages that are read while a search finds nothing. */
const PAGES = 25;
/** The next page is loaded when at most this many rows are left. */
const AHEAD = 15;
const REFRESH_MS = 250;

let focusWanted = false;

/** Whether the keyboard focus should move to the current row. Reading resets the flag. */
export function takeFocusWish(): boolean {
  const wanted = focusWanted;
  focusWanted = false;
  return wanted;
}

/** Number of the latest list; answers for earlier lists are dropped. */
let listed = 0;
/** Number of pages that the list consists of. */
let pages = 0;

/**
 * Reads pages until one has an item, since a search page can end without a match. Stops when
 * another list has been requested meanwhile.
 */
async function readOn(mine: number, cursor: string | null): Promise<Page> {
  for (let turn = 1; ; turn++) {
    const body = await readPage(PAGE, cursor);
    if (mine !== listed) return body;
    pages++;
    if (body.items.length > 0 || !body.next_cursor || turn === PAGES) return body;
    cursor = body.next_cursor;
  }
}

/** Reads the view from its first page. The old rows stay until the answer; `show` clears them. */
export async function loadList(): Promise<void> {
  const mine = ++listed;
  set({ loading: true, listFault: null });
  pages = 0;
  try {
    const body = await readOn(mine, null);
    if (mine !== listed) return;
    const items = shownOf(body);
    set({ items, nextCursor: body.next_cursor, counts: body.counts, loading: false });
    if (!current()) focusOn(items[0]?.id ?? null, { focus: false });
    else loadDetail(get().focusId);
  } catch (error) {
    if (mine === listed) set({ loading: false, listFault: failureWords(failureOf(error)) });
  }
}

export async function loadMore(): Promise<void> {
  const { nextCursor, loading } = get();
  if (!nextCursor || loading) return;
  const mine = listed;
  set({ loading: true });
  try {
    const body = await readOn(mine, nextCursor);
    if (mine !== listed) return;
    const known = new Set(get().items.map(({ id }) => id));
    const more = shownOf(body).filter((item) => !known.has(item.id) && !isOutdated(item));
    set({
      items: [...get().items, ...more],
      nextCursor: body.next_cursor,
      counts: body.counts,
      loading: false,
    });
    if (!current()) focusOn(more[0]?.id ?? null);
  } catch (error) {
    if (mine === listed) set({ loading: false, listFault: failureWords(failureOf(error)) });
  }
}

let refreshTimer: ReturnType<typeof setTimeout> | undefined;

/** Schedules a refresh in 250 ms; further calls until then are merged into it. */
export function refreshSoon(): void {
  if (refreshTimer !== undefined) return;
  refreshTimer = setTimeout(() => {
    refreshTimer = undefined;
    void refresh();
  }, REFRESH_MS);
}

/** Request number of the refresh that is shown; answers to earlier requests are dropped. */
let shownSince = 0;

/** Reads the shown part of the view again; keeps the focus, the selection and open work. */
export async function refresh(): Promise<void> {
  if (!isList(get().view) || get().session !== 'in') return;
  if (get().loading) return refreshSoon();
  const mine = listed;
  const before = pages;
  const asked = ask();
  const wanted = Math.max(get().items.length, PAGE);
  const read: Page[] = [];
  let rows = 0;
  let cursor: string | null = null;
  let counts = get().counts;
  let turn = 0;
  try {
    do {
      const body: Page = await readPage(Math.min(100, wanted - rows), cursor);
      read.push(body);
      rows += body.items.length;
      cursor = body.next_cursor;
      counts = body.counts;
    } while (cursor && rows < wanted && ++turn < pages);
  } catch {
    // Keep the list; the top bar shows a lost connection, and a later refresh tries again.
    return;
  }
  if (mine !== listed || asked < shownSince) return;
  // More pages were requested meanwhile, so this answer is too short.
  if (get().loading || pages !== before) return refreshSoon();
  shownSince = asked;
  // Merge after the last page has arrived: items may have been read again in the meantime.
  const fresh = read.flatMap(shownOf);
  const { items, marks, focusId, panel, selected } = get();
  const ids = new Set(fresh.map(({ id }) => id));
  const shown = new Set(items.map(({ id }) => id));
  // The item being worked on keeps its row, even if it no longer belongs to the view.
  const kept = items.filter(
    ({ id }) =>
      !ids.has(id) &&
      (id === panel?.itemId || (id === focusId && marks.get(id)?.kind !== 'deciding')),
  );
  // An outdated answer must not bring back an item that was decided here. A row that is still shown
  // stays until its decision is answered, because the decision can be refused.
  const list = fresh.filter(
    (item) => !isOutdated(item) || shown.has(item.id) || listView() === 'decided',
  );
  for (const item of kept) {
    const place = items.indexOf(item);
    list.splice(Math.min(place, list.length), 0, item);
  }
  const known = new Set(list.map(({ id }) => id));
  set({
    items: list,
    listFault: null,
    nextCursor: cursor,
    counts,
    selected: new Set([...selected].filter((id) => known.has(id))),
  });
  for (const item of kept) void reread(item.id);
  if (!current()) focusOn(list[0]?.id ?? null, { focus: false });
  else loadDetail(get().focusId);
}

let detailTimer: ReturnType<typeof setTimeout> | undefined;

/** Loads thread and history after 150 ms, so that moving quickly through a list loads nothing. */
function loadDetail(id: string | null): void {
  clearTimeout(detailTimer);
  if (!id || (get().details.get(id)?.version ?? -1) >= (itemOf(id)?.version ?? 0)) return;
  detailTimer = setTimeout(() => void reread(id), 150);
}

/** Makes an item the current one; `focus` also moves the keyboard focus to its row. */
export function focusOn(id: string | null, { focus = true } = {}): void {
  focusWanted ||= focus;
  const { panel } = get();
  if (panel && panel.itemId !== id && !panel.sending) leavePanel();
  set({ focusId: id });
  loadDetail(id);
  const { items } = get();
  if (items.length - items.findIndex((item) => item.id === id) <= AHEAD) void loadMore();
}

export function move(step: 1 | -1): void {
  const { items, focusId } = get();
  const place = items.findIndex(({ id }) => id === focusId);
  const next = items[Math.max(0, Math.min(items.length - 1, place + step))];
  if (next) focusOn(next.id);
}

const heldByOther = (item: Item): boolean => item.claim !== null && !item.claim.mine;

/** The nearest row below, or else above, that no other moderator holds and that has no mark. */
export function nextAfter(id: string): string | null {
  const { items, marks } = get();
  const place = items.findIndex((item) => item.id === id);
  const free = (item: Item) => item.id !== id && !marks.has(item.id) && !heldByOther(item);
  const below = items.slice(place + 1).find(free);
  const above = items.slice(0, Math.max(place, 0)).findLast(free);
  return (below ?? above)?.id ?? null;
}

/** Removes a decided item from the list. The view `decided` keeps and rereads the item. */
export function settle(id: string): void {
  const { view, items, selected } = get();
  if (view === 'decided') {
    void reread(id);
    return;
  }
  const rest = new Set(selected);
  rest.delete(id);
  set({ items: items.filter((item) => item.id !== id), selected: rest });
  if (get().items.length < AHEAD) void loadMore();
}

/** Switches to a view, clears the state of the previous view and loads the list. */
export function show(view: View, filters: Filters = NO_FILTERS): void {
  leavePanel();
  set({
    view,
    filters,
    items: [],
    nextCursor: null,
    focusId: null,
    open: false,
    selected: new Set(),
    marks: new Map(),
    details: new Map(),
    batch: null,
    help: false,
  });
  if (viewOf(location.hash) !== view) history.pushState(null, '', `#${view}`);
  if (isList(view)) void loadList();
}
