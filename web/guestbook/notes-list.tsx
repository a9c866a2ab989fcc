import type { Listed } from '../../services/pages/view.ts';
import { Empty, Pager } from '../site/parts.tsx';
import { NoteItem } from './note-item.tsx';
import type { Note } from './use-notes.ts';

interface ListProps {
  notes: readonly Note[];
  listed: Listed;
  live: boolean;
  /** What is shown instead of an empty list. */
  empty: string;
  older: string | undefined;
}

/** The notes of a guestbook, newest first. */
export function NotesList({ notes, listed, live, empty, older }: ListProps) {
  return (
    <section aria-labelledby="notes-title">
      <h2 id="notes-title" class="visually-hidden">
        Notes
      </h2>
      {notes.length === 0 && <Empty>{empty}</Empty>}
      {notes.length > 0 && (
        <ol class="notes">
          {notes.map((note) => (
            <li key={note.id}>
              <NoteItem
                note={note}
                approved={listed[note.id]?.approved}
                live={live}
                replies={listed[note.id]?.replies ?? 0}
              />
            </li>
          ))}
        </ol>
      )}
      <Pager older={older} word="Older notes" />
    </section>
  );
}
