import { currentItem, findItem, get, set, showToast } from '../session/state.ts';
import { isList, type View } from '../words/api-model.ts';
import { leavePanel } from '../work/leases.ts';
import {
  type Filters,
  itemAddress,
  NO_FILTERS,
  type Place,
  pushAddress,
  viewAddress,
} from './address.ts';
import { focusOn, loadList } from './queue.ts';
import { refreshItem } from './refresh.ts';

/**
 * Switches to a view, clears the state of the previous view and loads the list. `replace` changes the
 * present history entry instead of adding one.
 */
export function showView(
  view: View,
  filters: Filters = NO_FILTERS,
  { replace = false } = {},
): void {
  if (replace) history.replaceState(null, '', viewAddress(view, filters));
  else pushAddress(viewAddress(view, filters));
  showPlace({ view, filters, linkedId: null });
}

/** Opens an item by its id, beside the current list, which need not contain it. */
export function openItem(itemId: string): void {
  pushAddress(itemAddress(itemId));
  if (isList(get().view)) showLinked(itemId);
  else showPlace({ view: 'todo', filters: NO_FILTERS, linkedId: itemId });
}

/** Shows what an address names, without another history entry. */
export function showPlace({ view, filters, linkedId }: Place): void {
  leavePanel();
  set({
    view,
    filters,
    items: [],
    gone: new Set(),
    arrivals: [],
    nextCursor: null,
    linkedId: null,
    linked: null,
    focusId: null,
    open: false,
    selected: new Set(),
    marks: new Map(),
    details: new Map(),
    batch: null,
    membership: null,
    drawer: false,
    help: false,
  });
  if (linkedId) showLinked(linkedId);
  if (isList(view)) void loadList();
}

/** Follows Back and Forward; a list that is shown already keeps its rows. */
export function followHistory(place: Place): void {
  const { view, filters, items, linkedId } = get();
  const sameList = viewAddress(view, filters) === viewAddress(place.view, place.filters);
  if (!sameList || !isList(view) || items.length === 0 || (place.linkedId ?? linkedId) === null)
    showPlace(place);
  else if (place.linkedId) showLinked(place.linkedId);
  else {
    set({ linkedId: null, linked: null, open: false });
    if (!currentItem()) focusOn(items[0]?.id ?? null);
  }
}

function showLinked(itemId: string): void {
  set({ linkedId: itemId, linked: null, open: true });
  focusOn(itemId);
  void readLinked();
}

/** Reads the item of the address. */
export async function readLinked(): Promise<void> {
  const { linkedId } = get();
  if (!linkedId) return;
  await refreshItem(linkedId);
  if (get().linkedId !== linkedId || findItem(linkedId)) return;
  set({ linkedId: null, open: false });
  showToast('This item does not exist, or cannot be read now.', { tone: 'alert' });
  if (!currentItem()) focusOn(get().items[0]?.id ?? null);
}
