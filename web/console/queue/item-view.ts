import { placeState, setOpen } from './place.ts';
import { focusOn } from './queue.ts';

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
