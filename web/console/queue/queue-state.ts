import { createState } from '../session/store.ts';
import type { Counts, Item } from '../words/api-model.ts';
import { placeState } from './place.ts';

interface Queue {
  items: readonly Item[];
  /** Rows whose items have left the list; they stay, dimmed, until the rows move anyway. */
  gone: ReadonlySet<string>;
  /** Items that have come and would move the rows; they wait until the moderator shows them. */
  arrivals: readonly Item[];
  /** The item of the address, once it is read. */
  linked: Item | null;
  nextCursor: string | null;
  loading: boolean;
  /** Why the list failed to load. */
  listFault: string | null;
  counts: Counts | null;
  selected: ReadonlySet<string>;
}

export const queueState = createState<Queue>(
  {
    items: [],
    gone: new Set(),
    arrivals: [],
    linked: null,
    nextCursor: null,
    loading: false,
    listFault: null,
    counts: null,
    selected: new Set(),
  },
  {
    view: ['items', 'gone', 'arrivals', 'linked', 'nextCursor', 'selected'],
    session: ['listFault', 'counts'],
  },
);

/** The items that can be the current one. */
export function shownItems(): readonly Item[] {
  const { items, linked } = queueState();
  return linked ? [...items, linked] : items;
}

export const findItem = (id: string | null): Item | undefined =>
  shownItems().find((item) => item.id === id);

export const currentItem = (): Item | undefined => findItem(placeState().focusId);

export const setCounts = (counts: Counts): void => queueState.set({ counts });

/** Inserts an item after the current row, unless the list has it. */
export function insertAfterCurrent(item: Item): void {
  const { items } = queueState();
  const place = items.findIndex(({ id }) => id === placeState().focusId) + 1;
  if (!items.some(({ id }) => id === item.id))
    queueState.set({ items: items.toSpliced(place, 0, item) });
}
