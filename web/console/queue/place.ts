import { createState } from '../session/store.ts';
import { isList, type ListView } from '../words/api-model.ts';
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
