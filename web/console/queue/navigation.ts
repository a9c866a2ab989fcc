import { leavePanel } from '../in-progress/panel-state.ts';
import { showToast } from '../session/messages.ts';
import { resetView } from '../session/store.ts';
import { isList, type View } from '../words/api-model.ts';
import {
  type Filters,
  itemAddress,
  NO_FILTERS,
  type Place,
  pushAddress,
  viewAddress,
} from './address.ts';
import { focusOn, loadList } from './queue.ts';
import { currentItem, findItem, placeState, queueState, setOpen } from './queue-state.ts';
import { refreshItem } from './read-item.ts';

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
  if (isList(placeState().view)) showLinked(itemId);
  else showPlace({ view: 'todo', filters: NO_FILTERS, linkedId: itemId });
}

/** Shows what an address names, without another history entry. */
export function showPlace({ view, filters, linkedId }: Place): void {
  leavePanel();
  resetView();
  placeState.set({ view, filters, linkedId: null, focusId: null, open: false });
  if (linkedId) showLinked(linkedId);
  if (isList(view)) void loadList();
}

/** Follows Back and Forward; a list that is shown already keeps its rows. */
export function followHistory(place: Place): void {
  const { view, filters, linkedId } = placeState();
  const { items } = queueState();
  const sameList = viewAddress(view, filters) === viewAddress(place.view, place.filters);
  if (!sameList || !isList(view) || items.length === 0 || (place.linkedId ?? linkedId) === null)
    showPlace(place);
  else if (place.linkedId) showLinked(place.linkedId);
  else {
    placeState.set({ linkedId: null, open: false });
    queueState.set({ linked: null });
    if (!currentItem()) focusOn(items[0]?.id ?? null);
  }
}

function showLinked(itemId: string): void {
  placeState.set({ linkedId: itemId, open: true });
  queueState.set({ linked: null });
  focusOn(itemId);
  void readLinked();
}

/** Reads the item of the address. */
export async function readLinked(): Promise<void> {
  const { linkedId } = placeState();
  if (!linkedId) return;
  await refreshItem(linkedId);
  if (placeState().linkedId !== linkedId || findItem(linkedId)) return;
  placeState.set({ linkedId: null, open: false });
  showToast('This item does not exist, or cannot be read now.', { tone: 'alert' });
  if (!currentItem()) focusOn(queueState().items[0]?.id ?? null);
}

/** Drops filters and item of the address, which may tell what the previous moderator looked for. */
export function forgetPlace(): void {
  const { view } = placeState();
  placeState.set({ filters: NO_FILTERS, linkedId: null });
  history.replaceState(null, '', viewAddress(view));
}

/** Goes back to the item of the address, or to the list, for another moderator. */
export function resetFocus(): void {
  const { linkedId } = placeState();
  placeState.set({ focusId: linkedId, open: linkedId !== null });
}

const narrow = matchMedia('(width < 56.25em)');

const hasItemEntry = (): boolean => history.state?.note === true;

/** On narrow screens an open item hides the list, so it gets a history entry for Back. */
export function pushItemEntry(): void {
  if (narrow.matches && !hasItemEntry()) history.pushState({ note: true }, '');
}

/** Returns to the list, like the Back button. */
export function leaveItem(): void {
  if (hasItemEntry()) history.back();
  else closeItem();
}

export function closeItem(): void {
  setOpen(false);
  focusOn(placeState().focusId);
}
