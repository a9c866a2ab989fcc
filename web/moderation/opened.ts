import { focusOn } from './queue.ts';
import { get, set } from './state.ts';

const narrow = matchMedia('(width < 56.25em)');

const isAhead = (): boolean => history.state?.note === true;

/** Where the list is hidden behind it a note is a page of its own: Back leads to the list. */
export function noteOpened(): void {
  if (narrow.matches && !isAhead()) history.pushState({ note: true }, '');
}

/** To the list, as Back would. */
export function leaveNote(): void {
  if (isAhead()) history.back();
  else closeNote();
}

export function closeNote(): void {
  set({ open: false });
  focusOn(get().focusId);
}
