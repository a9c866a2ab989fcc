import { Pager } from '../site/parts.tsx';
import { NoteItem } from './note-item.tsx';
import type { Note } from './use-notes.ts';

interface ListProps {
  notes: readonly Note[];
  /** How many replies each note has; absent if the notes are replies. */
  replies?: Readonly<Record<string, number>>;
  live: boolean;
  /** What is shown instead of an empty list. */
  empty: string;
  older: string | undefined;
}

export function NotesList({ notes, replies, live, empty, older }: ListProps) {
  const word = replies ? 'notes' : 'replies';
  return (
    <section aria-labelledby="notes-title">
      <h2 id="notes-title" class="visually-hidden">
        {replies ? 'Notes' : 'Replies'}
      </h2>
      {notes.length === 0 && <p class="empty">{empty}</p>}
      {notes.length > 0 && (
        <ol class={word}>
          {notes.map((note) => (
            <li key={note.id}>
              <NoteItem
                note={note}
                live={live}
                {...(replies ? { replies: replies[note.id] ?? 0 } : {})}
              />
            </li>
          ))}
        </ol>
      )}
      <Pager older={older} word={`Older ${word}`} />
    </section>
  );
}
