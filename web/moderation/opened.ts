import { focusOn } from './queue.ts';
import { get, set } from './state.ts';

const narrow = matchMedia('(width < 56.25em)');

const isAhead = (): boolean => history.state?.note === true;

/** On narrow screens an open item hides the list, so it gets a history entry for Back. */
export function noteOpened(): void {
  if (narrow.matches && !isAhead()) history.pushState({ note: true }, '');
}

/** Returns to the list, like the Back button. */
export function leaveNote(): void {
  if (isAhead()) history.back();
  else closeNote();
}

export function closeNote(): void {
  set({ open: false });
  focusOn(get().focusId);
}
