import { OwnNoteItem } from './own-note-item.tsx';
import type { OwnNotes } from './own-notes-store.ts';
import type { Session } from './session.ts';

interface OwnNotesProps {
  own: OwnNotes;
  session: Session | undefined;
}

/** The notes sent from this browser, with their status. */
export function OwnNotesList({ own, session }: OwnNotesProps) {
  if (own.mine.length === 0) return null;
  const hasPending = own.mine.some(({ standing }) => standing === 'pending_review');
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
      {hasPending && (
        <p class="hint">
          Only moderators can read a waiting note until one of them approves it. This page checks
          every minute.
        </p>
      )}
      <ul>
        {own.mine.map((note) => (
          <li key={note.body.id}>
            <OwnNoteItem note={note} own={own} session={session} />
          </li>
        ))}
      </ul>
    </section>
  );
}
