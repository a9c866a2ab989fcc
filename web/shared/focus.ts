/** Where what had the focus is gone, it goes on to this; whoever has gone elsewhere stays there. */
export function focusOnInstead(place: HTMLElement | null | undefined): void {
  if (document.activeElement === document.body) place?.focus();
}
