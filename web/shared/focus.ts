/** Moves the focus to `fallback` if the focused element was removed; otherwise does nothing. */
export function focusIfLost(fallback: HTMLElement | null | undefined): void {
  if (document.activeElement === document.body) fallback?.focus();
}
