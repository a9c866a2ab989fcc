import { useEffect, useRef } from 'preact/hooks';
import { NoteItem } from './note-item.tsx';
import { type ListProps, useNotes } from './use-notes.ts';

export function NotesList({
  experience,
  session,
  own,
  onNotice,
}: ListProps & { onNotice: (notice: string) => void }) {
  const { notes, notice, list, retry, loadNewer, loadOlder } = useNotes(experience, null);
  useEffect(() => {
    if (notice) onNotice(notice);
  }, [notice, onNotice]);

  // When an own note is published, load the newest notes and leave the rest of the list in place.
  const published = own.mine.filter(({ standing }) => standing === 'published').length;
  const publishedBefore = useRef(published);
  useEffect(() => {
    if (published > publishedBefore.current) void loadNewer();
    publishedBefore.current = published;
  }, [published, loadNewer]);

  return (
    <section aria-labelledby="notes-title" aria-busy={!notes && !retry}>
      <h2 id="notes-title" class="visually-hidden">
        Notes
      </h2>
      {retry && (
        <div class="box bad row" role="alert">
          <span>The notes could not be loaded.</span>
          <button type="button" class="button" onClick={() => void retry()}>
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
      {loadOlder && (
        <p class="older">
          <button type="button" class="button" onClick={() => void loadOlder()}>
            Older notes
          </button>
        </p>
      )}
    </section>
  );
}
