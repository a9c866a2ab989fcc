import { plainText } from '../words/marked-text.tsx';
import { HAS_KEYBOARD, settingsState } from './settings.ts';
import { createState } from './store.ts';

/** A decision or batch that can be undone. `key` is the idempotency key of the undo request. */
export type Undoable = { key: string; about: string } & (
  | { kind: 'item'; itemId: string; eventId: string; version: number }
  | { kind: 'batch'; batchId: string; words: string }
);

interface Toast {
  text: string;
  /** The beginning of the item in question. */
  about: string;
  undo: Undoable | null;
  tone: 'plain' | 'alert';
}

export const messageState = createState({
  page: {
    /** Text of the polite live region. */
    announcement: '',
  },
  session: { toast: null as Toast | null },
});

/** Announces a text in the live region. A trailing space makes a repeated text differ. */
export function announce(text: string): void {
  const { announcement } = messageState();
  messageState.set({ announcement: announcement === text ? `${text}\u00a0` : text });
}

let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows and announces a message for 10 seconds, or an alert for 20 seconds. */
export function showToast(text: string, options: Partial<Omit<Toast, 'text'>> = {}): void {
  const { about = '', undo = null, tone = 'plain' } = options;
  clearTimeout(toastTimer);
  messageState.set({ toast: { text, about, undo, tone } });
  const whole = about ? `${text} “${plainText(about)}”` : text;
  announce(undo && settingsState().keys && HAS_KEYBOARD ? `${whole}. Press u to undo.` : whole);
  dismissAfter(tone === 'alert' ? 20_000 : 10_000);
}

export const dismissToast = (): void => messageState.set({ toast: null });

/** Dismisses the toast, but not while it is hovered or focused. */
function dismissAfter(ms: number): void {
  toastTimer = setTimeout(() => {
    if (document.querySelector('.toast:is(:hover, :focus-within)')) dismissAfter(2000);
    else dismissToast();
  }, ms);
}
