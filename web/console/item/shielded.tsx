import type { ComponentChildren } from 'preact';
import { settingsState } from '../session/settings.ts';
import { createState } from '../session/store.ts';
import { type Item, isNote } from '../words/api-model.ts';

export const shieldState = createState({
  /** Items whose abusive text the moderator has asked to see. */
  session: { revealed: new Set() as ReadonlySet<string> },
});

/** Whether the text has abusive words, and the moderator has not asked to see it. */
export const isShielded = (item: Item): boolean =>
  isNote(item) &&
  item.screening.findings.some(({ code }) => code === 'profanity') &&
  !shieldState().revealed.has(item.id);

/** Shows the text of an item that is folded for its words. Returns whether it was. */
export function reveal(item: Item | undefined): boolean {
  if (!item || !isShielded(item)) return false;
  shieldState.set({ revealed: new Set([...shieldState().revealed, item.id]) });
  return true;
}

/** A text, behind a button if it has abusive words: a moderator chooses when to read it. */
export function Shielded({ item, children }: { item: Item; children: ComponentChildren }) {
  const { keys } = settingsState();
  if (!isShielded(item)) return <>{children}</>;
  return (
    <p class="shield">
      This text has abusive words.{' '}
      <button
        type="button"
        class="button"
        aria-keyshortcuts={keys ? 'v' : undefined}
        onClick={() => reveal(item)}
      >
        Show the text {keys && <kbd>v</kbd>}
      </button>
    </p>
  );
}
