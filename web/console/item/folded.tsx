import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/**
 * A text, of which the first 14 lines are shown until the reader wants all. The parent sets `key`,
 * because the next text is folded again.
 */
export function Folded({ class: name, whole, children }: FoldedProps) {
  const text = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(whole);
  const [isLong, setLong] = useState(false);
  useLayoutEffect(() => {
    const { scrollHeight = 0, clientHeight = 0 } = text.current ?? {};
    // When all is shown, nothing can be measured, and the button stays.
    if (!open) setLong(scrollHeight > clientHeight + 1);
  });
  return (
    <>
      <div ref={text} class={`${name} ${open ? '' : isLong ? 'folded long' : 'folded'}`}>
        {children}
      </div>
      {isLong && (
        <button
          type="button"
          class="button quiet unfold"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? 'Show less' : 'Show all'}
        </button>
      )}
    </>
  );
}

interface FoldedProps {
  class: string;
  /** Shows all from the beginning. */
  whole: boolean;
  children: ComponentChildren;
}
