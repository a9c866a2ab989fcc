import { useEffect, useState } from 'preact/hooks';
import { announce } from '../shared/live-region.tsx';
import { toQuote, UserText } from '../shared/text.tsx';

const SHOWN_MS = 10_000;

interface Toast {
  text: string;
  /** The beginning of the note in question. */
  about: string;
}

let show: (toast: Toast) => void = () => undefined;

/** Confirms an action in a toast, and announces the confirmation to screen readers. */
export function toast(text: string, message = ''): void {
  const about = toQuote(message);
  show({ text, about });
  announce(about ? `${text} “${about}”` : text);
}

/** Shows the last toast. Render it once per page. */
export function Toaster() {
  const [shown, setShown] = useState<Toast>();
  useEffect(() => {
    show = setShown;
    return () => {
      show = () => undefined;
    };
  }, []);
  useEffect(() => {
    if (!shown) return undefined;
    const timer = setInterval(() => {
      // Keep the toast while it is hovered or focused.
      if (!document.querySelector('.toast:is(:hover, :focus-within)')) setShown(undefined);
    }, SHOWN_MS);
    return () => clearInterval(timer);
  }, [shown]);
  if (!shown) return null;
  return (
    <aside class="toast" aria-label="Confirmation">
      <span>
        {shown.text}
        {shown.about && (
          <>
            {' '}
            “<UserText text={shown.about} />”
          </>
        )}
      </span>
      <button
        type="button"
        class="button quiet"
        aria-label="Dismiss"
        onClick={() => setShown(undefined)}
      >
        ×
      </button>
    </aside>
  );
}
