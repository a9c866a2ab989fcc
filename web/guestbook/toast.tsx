import { useEffect, useState } from 'preact/hooks';
import { announce } from '../shared/announce.tsx';
import { Foreign, quoteOf } from '../shared/text.tsx';

const SHOWN_MS = 10_000;

interface Toast {
  text: string;
  /** The beginning of the note that it is about. */
  about: string;
}

let show: (toast: Toast) => void = () => undefined;

/** Confirms what was done, for the eye and for the ear. */
export function toast(text: string, message = ''): void {
  const about = quoteOf(message);
  show({ text, about });
  announce(about ? `${text} “${about}”` : text);
}

/** Shows the last toast. Rendered once on the page. */
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
      // Not while it is pointed at or has the focus.
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
            “<Foreign text={shown.about} />”
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
