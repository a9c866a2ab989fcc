import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** What went wrong. Screen readers read it out when it appears. */
export function Alert({ children }: { children: ComponentChildren }) {
  return (
    <p class="box bad" role="alert">
      {children}
    </p>
  );
}

type Listener = (text: string) => void;
const listeners = new Set<Listener>();

/** Announces a text to screen readers, through the live region of `Announcer`. */
export function announce(text: string): void {
  for (const listener of listeners) listener(text);
}

/** The live region of `announce`. Render it once per page. */
export function Announcer() {
  const [message, setMessage] = useState({ text: '', count: 0 });
  useEffect(() => {
    const listener = (text: string) => setMessage(({ count }) => ({ text, count: count + 1 }));
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  // A trailing space makes a repeated text differ, so that screen readers announce it again.
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {message.count % 2 ? `${message.text}\u00a0` : message.text}
    </div>
  );
}
