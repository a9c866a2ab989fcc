import { connectionState } from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import { createState } from '../session/store.ts';
import { type Item, isList, isNote, type ListView } from '../words/api-model.ts';
import { readAddress } from './address.ts';

const start = readAddress(location);

/** Where the moderator is. */
export const placeState = createState({
  page: {
    /** The view and its filters, and the item of the address, which the list need not contain. */
    ...start,
    /** The current item. */
    focusId: start.linkedId,
    /** In the one-column layout, show the item instead of the list. */
    open: start.linkedId !== null,
  },
});

export const currentList = (): ListView => {
  const { view } = placeState();
  return isList(view) ? view : 'todo';
};

/** In the one-column layout, shows the item or the list. */
export const setOpen = (open: boolean): void => placeState.set({ open });

export const queueState = createState({
  page: { loading: false },
  session: {
    /** Why the list failed to load. */
    listFault: null as string | null,
  },
  view: {
    items: [] as readonly Item[],
    /** Rows whose items have left the list; they stay, dimmed, until the rows move anyway. */
    gone: new Set() as ReadonlySet<string>,
    /** Items that have come and would move the rows; they wait until the moderator shows them. */
    arrivals: [] as readonly Item[],
    /** The item of the address, once it is read. */
    linked: null as Item | null,
    nextCursor: null as string | null,
    selected: new Set() as ReadonlySet<string>,
  },
});

/** The items that can be the current one. */
export function shownItems(): readonly Item[] {
  const { items, linked } = queueState();
  return linked ? [...items, linked] : items;
}

export const findItem = (id: string | null): Item | undefined =>
  shownItems().find((item) => item.id === id);

export const currentItem = (): Item | undefined => findItem(placeState().focusId);

/** Inserts an item after the current row, unless the list has it. */
export function insertAfterCurrent(item: Item): void {
  const { items } = queueState();
  const place = items.findIndex(({ id }) => id === placeState().focusId) + 1;
  if (!items.some(({ id }) => id === item.id))
    queueState.set({ items: items.toSpliced(place, 0, item) });
}

/** Toggles the selection of a note. Records cannot be selected. */
export function toggleSelection(id: string | null): void {
  if (!id || connectionState().me?.role === 'auditor') return;
  const item = findItem(id);
  if (item && !isNote(item)) {
    showToast('Only notes can be selected.');
    return;
  }
  const selected = new Set(queueState().selected);
  if (!selected.delete(id)) selected.add(id);
  queueState.set({ selected });
}

/** The ids of all notes in the list. */
export const selectableIds = (): readonly string[] =>
  queueState()
    .items.filter((item) => isNote(item) && !queueState().gone.has(item.id))
    .map(({ id }) => id);

export const select = (ids: readonly string[]): void => queueState.set({ selected: new Set(ids) });

export const selectAll = (): void => select(selectableIds());
