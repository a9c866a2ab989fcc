import type { Listed } from '../../services/pages/site/view.ts';
import { Pager } from '../site/parts.tsx';
import { NoteItem } from './note-item.tsx';
import type { Note } from './use-notes.ts';

interface ListProps {
  notes: readonly Note[];
  listed: Listed;
  /** What the notes are: only notes can have replies. */
  word: 'notes' | 'replies';
  live: boolean;
  /** What is shown instead of an empty list. */
  empty: string;
  older: string | undefined;
}

export function NotesList({ notes, listed, word, live, empty, older }: ListProps) {
  return (
    <section aria-labelledby="notes-title">
      <h2 id="notes-title" class="visually-hidden">
        {word === 'notes' ? 'Notes' : 'Replies'}
      </h2>
      {notes.length === 0 && <p class="empty">{empty}</p>}
      {notes.length > 0 && (
        <ol class={word}>
          {notes.map((note) => (
            <li key={note.id}>
              <NoteItem
                note={note}
                approved={listed[note.id]?.approved}
                live={live}
                {...(word === 'notes' ? { replies: listed[note.id]?.replies ?? 0 } : {})}
              />
            </li>
          ))}
        </ol>
      )}
      <Pager older={older} word={`Older ${word}`} />
    </section>
  );
}
