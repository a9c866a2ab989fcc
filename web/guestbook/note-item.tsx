import { useRef, useState } from 'preact/hooks';
import { guestName, hasVisibleText } from '../../platform/visible-text.ts';
import { focusIfLost } from '../shared/focus.ts';
import { stripInvisible, UserText } from '../shared/text.tsx';
import { RelativeTime } from '../shared/time.tsx';
import { Compose, useComposeFocus } from './compose.tsx';
import { isReported, ReportDialog } from './report.tsx';
import { toast } from './toast.tsx';
import { type ListProps, type Note, useNotes } from './use-notes.ts';

interface NoteProps extends ListProps {
  note: Note;
  /** A reply cannot have replies. */
  isReply?: boolean;
}

export function NoteItem({ note, isReply = false, ...list }: NoteProps) {
  const [open, setOpen] = useState(false);
  const [replying, setReplying] = useState(false);
  const article = useComposeFocus(replying);
  const [reporting, setReporting] = useState(false);
  const replyButton = useRef<HTMLButtonElement>(null);
  const reported = isReported(note.id);
  const title = `note-${note.id}`;
  const name = stripInvisible(guestName(note.name)).trim();

  const closeReply = () => {
    setReplying(false);
    requestAnimationFrame(() => focusIfLost(replyButton.current));
  };

  return (
    <article class="note" aria-labelledby={title} tabIndex={-1} ref={article}>
      <header>
        <h3 id={title}>
          <UserText text={name} class="name" />{' '}
          <span class="who">{note.attribution === 'member' ? 'member' : 'guest'}</span>
        </h3>
        <span class="when">
          <RelativeTime time={new Date(note.created_at * 1000)} />
        </span>
      </header>
      <Message text={note.message} />
      <div class="actions">
        {!isReply && (
          <>
            <button
              type="button"
              class="button quiet"
              aria-expanded={open}
              aria-describedby={title}
              onClick={() => setOpen(!open)}
            >
              {open ? 'Hide replies' : 'Replies'}
            </button>
            <button
              type="button"
              class="button quiet"
              ref={replyButton}
              aria-expanded={replying}
              aria-describedby={title}
              onClick={() => setReplying(!replying)}
            >
              Reply
            </button>
          </>
        )}
        <button
          type="button"
          class="button quiet"
          aria-describedby={title}
          aria-disabled={reported ? 'true' : undefined}
          onClick={() => setReporting(!reported)}
        >
          {reported ? 'Reported' : 'Report'}
        </button>
      </div>
      {replying && (
        <Compose
          experience={list.experience}
          parentId={note.id}
          session={list.session}
          own={list.own}
          onSent={closeReply}
          onCancel={closeReply}
        />
      )}
      {open && <Replies parentId={note.id} {...list} />}
      {reporting && (
        <ReportDialog
          note={note}
          onClose={(sent) => {
            setReporting(false);
            if (sent) toast('Thank you. A moderator will review', note.message);
          }}
        />
      )}
    </article>
  );
}

/** The text of a note, always rendered as plain text. */
export function Message({ text, id }: { text: string; id?: string }) {
  const shown =
    hasVisibleText(text) &&
    stripInvisible(text)
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  return (
    <p class="message foreign" dir="auto" id={id}>
      {shown || <span class="hint">(no visible text)</span>}
    </p>
  );
}

function Replies({ parentId, ...context }: ListProps & { parentId: string }) {
  const { notes, list, retry, loadOlder } = useNotes(context.experience, parentId);
  if (!notes && !retry) return <p class="hint">Loading…</p>;
  return (
    <>
      {notes?.length === 0 && <p class="hint replies-none">No replies yet.</p>}
      {notes && notes.length > 0 && (
        <ol class="replies" aria-label="Replies" ref={list}>
          {notes.map((reply) => (
            <li key={reply.id}>
              <NoteItem note={reply} isReply {...context} />
            </li>
          ))}
        </ol>
      )}
      {retry && (
        <p class="box row" role="alert">
          The replies could not be loaded.
          <button type="button" class="button quiet" onClick={() => void retry()}>
            Try again
          </button>
        </p>
      )}
      {loadOlder && !retry && (
        <button type="button" class="button quiet" onClick={() => void loadOlder()}>
          Older replies
        </button>
      )}
    </>
  );
}
