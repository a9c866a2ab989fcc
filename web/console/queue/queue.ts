import { leavePanel, panelState } from '../in-progress/panel-state.ts';
import { isOutdated, sentState } from '../in-progress/sent.ts';
import { connectionState } from '../session/connection.ts';
import { announce } from '../session/messages.ts';
import { nextRequest } from '../session/moderation-api.ts';
import { type Counts, type Item, isList, isNote } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { formatCount, plural } from '../words/format.ts';
import { pushAddress, viewAddress } from './address.ts';
import { awaitCounts, countState, setCounts } from './counts.ts';
import { dropGone, forgetGone, mergeItems } from './list-changes.ts';
import {
  isListCurrent,
  listNumber,
  type Page,
  readPage,
  startList,
  toShownItems,
} from './list-page.ts';
import { currentItem, currentList, findItem, placeState, queueState } from './queue-state.ts';
import { detailState, refreshItem } from './read-item.ts';

const PAGE_ROWS = 50;
/** Maximum number of consecutive pages that are read while a search finds nothing. */
const MAX_SEARCH_PAGES = 25;
/** The next page is loaded when at most this many rows are left. */
const PREFETCH_ROWS = 15;
const REFRESH_MS = 250;
/** A list of up to this many rows is read again whole. */
const MAX_REREAD_ROWS = 100;

let focusRequested = false;

/** Whether the keyboard focus should move to the current row. Reading resets the flag. */
export function takeFocusRequest(): boolean {
  const requested = focusRequested;
  focusRequested = false;
  return requested;
}

/** Number of pages that the list consists of. */
let pages = 0;

/**
 * Reads pages until one has an item, since a search page can end without a match. Stops when
 * another list has been requested meanwhile.
 */
async function readUntilFound(number: number, cursor: string | null): Promise<Page> {
  for (let turn = 1; ; turn++) {
    const body = await readPage(PAGE_ROWS, cursor);
    if (!isListCurrent(number)) return body;
    pages++;
    if (body.items.length > 0 || !body.next_cursor || turn === MAX_SEARCH_PAGES) return body;
    cursor = body.next_cursor;
  }
}

/** Reads the view from its first page. Old rows stay until the answer; `showView` clears them. */
export async function loadList(): Promise<void> {
  const number = startList();
  queueState.set({ loading: true, listFault: null });
  pages = 0;
  try {
    const body = await readUntilFound(number, null);
    if (!isListCurrent(number)) return;
    const items = toShownItems(body);
    setCounts(body.counts);
    queueState.set({
      items,
      gone: new Set(),
      arrivals: [],
      nextCursor: body.next_cursor,
      loading: false,
    });
    if (Object.values(placeState().filters).some(Boolean)) announce(matchesText());
    if (!hasCurrent()) focusOn(items[0]?.id ?? null, { focus: false });
    else loadDetail(placeState().focusId);
  } catch (error) {
    if (isListCurrent(number))
      queueState.set({ loading: false, listFault: failureText(toFailure(error)) });
  }
  refreshIfWaiting();
}

/** How many items the filters have found so far, of those in the view. */
export function matchesText(): string {
  const { items, gone, nextCursor } = queueState();
  const { counts } = countState();
  const view = currentList();
  const found = items.length - gone.size;
  const total = view === 'decided' ? undefined : counts?.[view];
  // A search in `todo` finds deferred and escalated notes too.
  const more = total && total > found ? formatCount(total) : undefined;
  if (nextCursor)
    return `First ${plural(found, 'match', 'matches')}${more ? ` among ${more}` : ''}.`;
  return `${formatCount(found)}${more ? ` of ${more}` : ''} found.`;
}

export async function loadMore(): Promise<void> {
  const { nextCursor, loading } = queueState();
  if (!nextCursor || loading) return;
  const number = listNumber();
  queueState.set({ loading: true });
  try {
    const body = await readUntilFound(number, nextCursor);
    if (!isListCurrent(number)) return;
    const shown = new Set(queueState().items.map(({ id }) => id));
    const more = toShownItems(body).filter((item) => !shown.has(item.id) && !isOutdated(item));
    setCounts(body.counts);
    queueState.set({
      items: [...queueState().items, ...more],
      nextCursor: body.next_cursor,
      loading: false,
    });
    if (!hasCurrent()) focusOn(more[0]?.id ?? null);
  } catch (error) {
    if (isListCurrent(number))
      queueState.set({ loading: false, listFault: failureText(toFailure(error)) });
  }
  refreshIfWaiting();
}

let refreshTimer: ReturnType<typeof setTimeout> | undefined;
let wholeScheduled = false;

/** Schedules a refresh in 250 ms; further calls until then are merged into it. */
export function scheduleRefresh({ whole = false } = {}): void {
  wholeScheduled ||= whole;
  if (refreshTimer !== undefined) return;
  refreshTimer = setTimeout(() => {
    const options = { whole: wholeScheduled };
    refreshTimer = undefined;
    wholeScheduled = false;
    void refreshList(options);
  }, REFRESH_MS);
}

/** The refresh that follows the page that is being read. */
let waitingRefresh: { whole: boolean } | undefined;

function refreshIfWaiting(): void {
  if (!waitingRefresh || queueState().loading) return;
  const options = waitingRefresh;
  waitingRefresh = undefined;
  void refreshList(options);
}

/** Request number of the refresh that is shown; answers to earlier requests are dropped. */
let shownRefresh = 0;

/**
 * Reads the shown part of the view again; keeps the focus, the selection and open work. Of a long
 * list it reads the first page, which finds what has come without an event, unless `whole` is set.
 */
export async function refreshList({ whole = false } = {}): Promise<void> {
  if (!isList(placeState().view) || connectionState().session !== 'in') return;
  if (queueState().loading) {
    waitingRefresh = { whole: whole || waitingRefresh?.whole === true };
    return;
  }
  const number = listNumber();
  const before = pages;
  const request = nextRequest();
  const shown = queueState().items.map(({ id }) => id);
  const all = whole || shown.length <= MAX_REREAD_ROWS;
  const rowsWanted = all ? shown.length : 0;
  const pagesRead: Page[] = [];
  let rows = 0;
  let cursor: string | null = null;
  const showCounts = awaitCounts();
  let counts: Counts | null = null;
  let turn = 0;
  try {
    do {
      const limit = Math.min(100, Math.max(PAGE_ROWS, rowsWanted) - rows);
      const body: Page = await readPage(limit, cursor);
      pagesRead.push(body);
      rows += body.items.length;
      cursor = body.next_cursor;
      counts = body.counts;
    } while (cursor && rows < rowsWanted && ++turn < pages);
  } catch {
    // Keep the list; the top bar shows a lost connection, and a later refresh tries again.
    return;
  }
  if (!isListCurrent(number) || request < shownRefresh) return;
  shownRefresh = request;
  // Merge after the last page has arrived: items may have been read again in the meantime.
  const fresh = pagesRead.flatMap(toShownItems);
  // Pages that were requested meanwhile are newer, and follow the rows that this answer has.
  const ends = all && pages === before && !queueState().loading;
  mergeItems(fresh, all ? shown : [], ends);
  showCounts(counts);
  queueState.set({ listFault: null, ...(ends ? { nextCursor: cursor } : {}) });
  if (!hasCurrent()) focusOn(queueState().items[0]?.id ?? null, { focus: false });
  else loadDetail(placeState().focusId);
}

/** Whether there is a current item, perhaps one that is still being read. */
const hasCurrent = (): boolean =>
  currentItem() !== undefined ||
  (placeState().focusId !== null && placeState().focusId === placeState().linkedId);

let detailTimer: ReturnType<typeof setTimeout> | undefined;

/** Loads thread and history after 150 ms, so that moving quickly through a list loads nothing. */
function loadDetail(id: string | null): void {
  clearTimeout(detailTimer);
  if (!id || (detailState().details.get(id)?.version ?? -1) >= (findItem(id)?.version ?? 0)) return;
  detailTimer = setTimeout(() => void refreshItem(id), 150);
}

/** The item of the address is no longer shown beside the list. */
function leaveLinked(): void {
  placeState.set({ linkedId: null });
  queueState.set({ linked: null });
}

/** Makes an item the current one; `focus` also moves the keyboard focus to its row. */
export function focusOn(id: string | null, { focus = true } = {}): void {
  focusRequested ||= focus;
  const { panel } = panelState();
  const { linkedId, view, filters } = placeState();
  if (panel && panel.itemId !== id && !panel.sending) leavePanel();
  if (linkedId && linkedId !== id) {
    pushAddress(viewAddress(view, filters));
    leaveLinked();
  }
  placeState.set({ focusId: id });
  loadDetail(id);
  const { items } = queueState();
  if (items.length - items.findIndex((item) => item.id === id) <= PREFETCH_ROWS) void loadMore();
}

/** Moves to the next or previous row that has not gone. */
export function moveFocus(step: 1 | -1): void {
  const { items, gone } = queueState();
  const { focusId } = placeState();
  const place = items.findIndex(({ id }) => id === focusId);
  const stays = ({ id }: Item) => !gone.has(id);
  const next =
    step === 1
      ? items.slice(place + 1).find(stays)
      : items.slice(0, Math.max(place, 0)).findLast(stays);
  focusOn(next?.id ?? focusId);
}

const claimedByOther = (item: Item): boolean => item.claim !== null && !item.claim.mine;

/** The nearest row below, or else above, that no other moderator holds and that has no mark. */
export function nextAfter(id: string): string | null {
  const { items, gone } = queueState();
  const { marks } = sentState();
  const place = items.findIndex((item) => item.id === id);
  const free = (item: Item) =>
    item.id !== id && !gone.has(item.id) && !marks.has(item.id) && !claimedByOther(item);
  const below = items.slice(place + 1).find(free);
  const above = items.slice(0, Math.max(place, 0)).findLast(free);
  return (below ?? above)?.id ?? null;
}

/** Removes a decided item from the list. The view `decided` keeps the item and reads it again. */
export function removeDecided(id: string): void {
  const { view } = placeState();
  const { items, selected } = queueState();
  if (view === 'decided') {
    void refreshItem(id);
    return;
  }
  const stood = items.find((item) => item.id === id);
  // The next of the folded notes represents the others now.
  if (stood && isNote(stood) && stood.fold) scheduleRefresh({ whole: true });
  const rest = new Set(selected);
  rest.delete(id);
  queueState.set({ items: items.filter((item) => item.id !== id), selected: rest });
  forgetGone(id);
  // The rows move up anyway.
  dropGone();
  if (queueState().items.length < PREFETCH_ROWS) void loadMore();
}
