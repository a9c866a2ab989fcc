import { useEffect, useRef } from 'preact/hooks';
import { NoteItem } from './note-item.tsx';
import { type ListProps, useNotes } from './use-notes.ts';

export function NotesList({
  experience,
  session,
  own,
  onNotice,
}: ListProps & { onNotice: (notice: string) => void }) {
  const { notes, notice, list, again, newer, older } = useNotes(experience, null);
  useEffect(() => {
    if (notice) onNotice(notice);
  }, [notice, onNotice]);

  // When an own note is published, load the newest notes and leave the rest of the list in place.
  const published = own.mine.filter(({ standing }) => standing === 'published').length;
  const before = useRef(published);
  useEffect(() => {
    if (published > before.current) void newer();
    before.current = published;
  }, [published, newer]);

  return (
    <section aria-labelledby="notes-title" aria-busy={!notes && !again}>
      <h2 id="notes-title" class="visually-hidden">
        Notes
      </h2>
      {again && (
        <div class="box bad row" role="alert">
          <span>The notes could not be loaded.</span>
          <button type="button" class="button" onClick={() => void again()}>
            Try again
          </button>
        </div>
      )}
      {notes?.length === 0 && <p class="empty">No notes here yet. Yours could be the first.</p>}
      {notes && notes.length > 0 && (
        <ol class="notes" ref={list}>
          {notes.map((note) => (
            <li key={note.id}>
              <NoteItem note={note} experience={experience} session={session} own={own} />
            </li>
          ))}
        </ol>
      )}
      {older && (
        <p class="older">
          <button type="button" class="button" onClick={() => void older()}>
            Older notes
          </button>
        </p>
      )}
    </section>
  );
}
