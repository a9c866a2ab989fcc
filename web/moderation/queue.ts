import { failureOf } from './api.ts';
import { isOutdated } from './decided-here.ts';
import { leavePanel } from './leases.ts';
import { type Page, readPage, shownOf } from './list-page.ts';
import { ask, reread } from './reread.ts';
import { current, type Filters, get, itemOf, listView, NO_FILTERS, set, viewOf } from './state.ts';
import { type Item, isList, type View } from './wire.ts';
import { failureWords } from './words.ts';

const PAGE = 50;
/** So many pages on end are asked for in which a search finds nothing. */
const PAGES = 25;
/** Rows that are left before the next page is asked for. */
const AHEAD = 15;
const REFRESH_MS = 250;

let focusWanted = false;

/** Whether the keyboard's focus should follow to the present row; true once for each wish. */
export function takeFocusWish(): boolean {
  const wanted = focusWanted;
  focusWanted = false;
  return wanted;
}

let listed = 0;
/** How many pages the list has taken so far. */
let pages = 0;

/**
 * A page of a search ends after so many notes, whether they match or not: on to the first that does,
 * as long as the list that it is for is the one asked for.
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

/** Reads the view from its beginning; the old rows go at once where the view is another one. */
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

/** What changes elsewhere changes often; one look serves for all that came within a moment. */
export function refreshSoon(): void {
  if (refreshTimer !== undefined) return;
  refreshTimer = setTimeout(() => {
    refreshTimer = undefined;
    void refresh();
  }, REFRESH_MS);
}

/** When the list that is shown was asked for: an answer to an earlier question comes too late. */
let shownSince = 0;

/** Reads as much of the view as is shown, and keeps the place, the selection and what is held. */
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
    // The next one tells; a call that fails shows at the top of the page already.
    return;
  }
  if (mine !== listed || asked < shownSince) return;
  // This answer ends where the list ended before more of it was asked for.
  if (get().loading || pages !== before) return refreshSoon();
  shownSince = asked;
  // Only now, since an item may have been read anew while the next page was on its way.
  const fresh = read.flatMap(shownOf);
  const { items, marks, focusId, panel, selected } = get();
  const ids = new Set(fresh.map(({ id }) => id));
  const shown = new Set(items.map(({ id }) => id));
  // What is being worked on stays where it is, although it no longer belongs here.
  const kept = items.filter(
    ({ id }) =>
      !ids.has(id) &&
      (id === panel?.itemId || (id === focusId && marks.get(id)?.kind !== 'deciding')),
  );
  // What was decided here is not brought back by an answer that had not heard of it; what is still
  // shown waits for its answer, which may be that it was refused.
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

/** Thread and history follow when the eye rests; whoever runs through a list asks for nothing. */
function loadDetail(id: string | null): void {
  clearTimeout(detailTimer);
  if (!id || (get().details.get(id)?.version ?? -1) >= (itemOf(id)?.version ?? 0)) return;
  detailTimer = setTimeout(() => void reread(id), 150);
}

/** Makes a note the present one. */
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

/** The next row that nobody else works on; where there is none below, the nearest above. */
export function nextAfter(id: string): string | null {
  const { items, marks } = get();
  const place = items.findIndex((item) => item.id === id);
  const free = (item: Item) => item.id !== id && !marks.has(item.id) && !heldByOther(item);
  const below = items.slice(place + 1).find(free);
  const above = items.slice(0, Math.max(place, 0)).findLast(free);
  return (below ?? above)?.id ?? null;
}

/** Takes a decided note out of the list; in a list of what is decided it is read again. */
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
