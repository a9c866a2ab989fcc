import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Experience } from '../../domain/guestbook/words.ts';
import type { Note } from '../../services/pages/view.ts';
import { call } from '../shared/api.ts';
import type { OwnNotes } from './own-notes-store.ts';

export type { Note };

interface NotesOptions {
  experience: Experience;
  /** The note whose replies these are, or null. */
  parentId: string | null;
  /** The notes that the server rendered. */
  rendered: readonly Note[];
  /** Whether they are the newest ones. */
  newest: boolean;
  own: OwnNotes;
}

/**
 * The notes of a page, without own notes that were withdrawn since. Once an own note is published, the
 * newest notes are read again.
 */
export function useNotes({ experience, parentId, rendered, newest, own }: NotesOptions) {
  const [notes, setNotes] = useState(rendered);
  const loadNewer = useCallback(async () => {
    const search = new URLSearchParams({
      experience,
      ...(parentId ? { parent_id: parentId } : {}),
    });
    const answer = await call<{ entries: Note[] }>('GET', `/api/guestbook?${search}`);
    if (answer.kind !== 'ok') return;
    const { entries } = answer.body;
    setNotes((shown) => {
      const ids = new Set(shown.map(({ id }) => id));
      const added = entries.filter(({ id }) => !ids.has(id));
      // A thread is read from its first reply to its last.
      return parentId ? [...shown, ...added.reverse()] : [...added, ...shown];
    });
  }, [experience, parentId]);

  const waiting = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const published = own.mine.some(
      ({ body, standing }) => standing === 'published' && waiting.current.has(body.id),
    );
    const still = own.mine.filter(({ standing }) => standing === 'pending_review');
    waiting.current = new Set(still.map(({ body }) => body.id));
    if (newest && published) void loadNewer();
  }, [own.mine, newest, loadNewer]);

  const withdrawn = new Set(
    own.mine.filter(({ outcome }) => outcome?.outcome === 'withdrawn').map(({ body }) => body.id),
  );
  return notes.filter(({ id }) => !withdrawn.has(id));
}
