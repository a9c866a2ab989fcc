/** Moves the focus to `place` if the focused element was removed; otherwise does nothing. */
export function focusOnInstead(place: HTMLElement | null | undefined): void {
  if (document.activeElement === document.body) place?.focus();
}
