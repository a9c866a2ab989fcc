import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Experience } from '../../domain/guestbook/words.ts';
import { focusIfLost } from '../shared/field.tsx';
import { Compose, useComposeFocus } from './compose.tsx';
import type { OwnNotes } from './own-notes-store.ts';
import type { Session } from './session.ts';

interface WriteProps {
  experience: Experience;
  /** The note to reply to, or null. */
  parentId: string | null;
  session: Session | undefined;
  own: OwnNotes;
  live: boolean;
  /**
   * Opens the form at once, for an address that ends in `#reply`. No element has that id, because the
   * browser would then move the focus away from the form.
   */
  open?: boolean;
}

/** Opens the form for a note. Without a script it is a link to the page with that form. */
export function WriteNote({ experience, parentId, session, own, live, open = false }: WriteProps) {
  const [writing, setWriting] = useState(false);
  useLayoutEffect(() => {
    if (open) setWriting(true);
  }, [open]);
  const holder = useComposeFocus(writing);
  const button = useRef<HTMLButtonElement>(null);
  const stop = () => {
    setWriting(false);
    requestAnimationFrame(() => focusIfLost(button.current));
  };
  const words = parentId ? 'Write a reply…' : 'Write a note…';
  return (
    <div class="writing" ref={holder}>
      {writing ? (
        <Compose
          experience={experience}
          parentId={parentId}
          session={session}
          own={own}
          onSent={stop}
          onCancel={stop}
        />
      ) : live ? (
        <button type="button" class="write" ref={button} onClick={() => setWriting(true)}>
          {words}
        </button>
      ) : (
        <a
          class="write"
          href={parentId ? `/write?reply_to=${parentId}` : `/write?in=${experience}`}
        >
          {words}
        </a>
      )}
    </div>
  );
}
