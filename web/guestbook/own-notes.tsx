import { OwnNoteItem } from './own-note-item.tsx';
import type { OwnNotes } from './own-notes-store.ts';
import type { Session } from './session.ts';

const NEWEST = 5;

interface OwnNotesProps {
  own: OwnNotes;
  session: Session | undefined;
  /** Shows the newest notes only, with a link to all. */
  brief?: boolean;
}

/** The member's notes and those that guests sent from this browser, with their status. */
export function OwnNotesList({ own, session, brief = false }: OwnNotesProps) {
  const { mine, loadMore } = own;
  if (mine.length === 0) return null;
  const shown = brief ? mine.slice(0, NEWEST) : mine;
  return (
    <section class="own" aria-labelledby="own-title">
      <div class="own-head">
        <h2 id="own-title" tabIndex={-1}>
          Your notes
        </h2>
        <button type="button" class="button quiet" onClick={() => void own.checkAll()}>
          Check now
        </button>
      </div>
      {mine.some(({ standing }) => standing === 'pending_review') && (
        <p class="hint">
          Only moderators can read a waiting note until one of them approves it. This page checks
          every minute.
        </p>
      )}
      <ul>
        {shown.map((note) => (
          <li key={note.body.id}>
            <OwnNoteItem note={note} own={own} session={session} />
          </li>
        ))}
      </ul>
      {brief && mine.length > shown.length && (
        <p>
          <a href="/me">All your notes</a>
        </p>
      )}
      {!brief && loadMore && (
        <button type="button" class="button quiet" onClick={() => void loadMore()}>
          Show older notes
        </button>
      )}
    </section>
  );
}
