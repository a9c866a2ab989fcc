import { useEffect, useState } from 'preact/hooks';

type Listener = (text: string) => void;
const listeners = new Set<Listener>();

/** Says something to those who do not see the page change. */
export function announce(text: string): void {
  for (const listener of listeners) listener(text);
}

/** Stands once on each page. */
export function Announcer() {
  const [said, say] = useState({ text: '', count: 0 });
  useEffect(() => {
    const listener = (text: string) => say(({ count }) => ({ text, count: count + 1 }));
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  // The same words twice are told twice: a space makes them differ.
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {said.count % 2 ? `${said.text}\u00a0` : said.text}
    </div>
  );
}
