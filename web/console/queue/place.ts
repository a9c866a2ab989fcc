import { createState } from '../session/store.ts';
import { isList, type ListView, type View } from '../words/api-model.ts';
import { type Filters, readAddress } from './address.ts';

/** Where the moderator is. */
interface Place {
  view: View;
  filters: Filters;
  /** The item of the address, which the list need not contain. */
  linkedId: string | null;
  /** The current item. */
  focusId: string | null;
  /** In the one-column layout, show the item instead of the list. */
  open: boolean;
}

const start = readAddress(location);

export const placeState = createState<Place>({
  ...start,
  focusId: start.linkedId,
  open: start.linkedId !== null,
});

export const currentList = (): ListView => {
  const { view } = placeState();
  return isList(view) ? view : 'todo';
};

/** In the one-column layout, shows the item or the list. */
export const setOpen = (open: boolean): void => placeState.set({ open });
