import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../shared/announce.tsx';
import { call, nextLink } from '../shared/api.ts';
import type { Experience } from './experience.ts';
import type { OwnNotes } from './own-notes-store.ts';
import type { Session } from './session.ts';

export interface Note {
  id: string;
  name: string;
  message: string;
  created_at: number;
  attribution: 'guest' | 'member';
}

interface NotesBody {
  entries: Note[];
  notice: string;
}

interface PageRequest {
  path: string;
  part: 'first' | 'older' | 'newer';
}

export interface ListProps {
  experience: Experience;
  session: Session | undefined;
  own: OwnNotes;
}

/** Reads the notes of an experience, or the replies to note `parentId`, page by page. */
export function useNotes(experience: Experience, parentId: string | null) {
  const first = `/api/guestbook?${new URLSearchParams({
    experience,
    ...(parentId ? { parent_id: parentId } : {}),
  })}`;
  const [notes, setNotes] = useState<Note[]>();
  const [next, setNext] = useState<string>();
  const [failed, setFailed] = useState<PageRequest>();
  const [notice, setNotice] = useState('');
  const list = useRef<HTMLOListElement>(null);

  const load = useCallback(async ({ path, part }: PageRequest) => {
    const answer = await call<NotesBody>('GET', path);
    setFailed(answer.kind === 'ok' ? undefined : { path, part });
    if (answer.kind !== 'ok') return false;
    const { entries } = answer.body;
    setNotice(answer.body.notice);
    if (part !== 'newer') setNext(nextLink(answer.headers));
    setNotes((shown = []) => {
      const ids = new Set(shown.map(({ id }) => id));
      const added = entries.filter(({ id }) => !ids.has(id));
      return part === 'newer' ? [...added, ...shown] : [...shown, ...added];
    });
    if (part === 'older') announce(`${entries.length} older notes loaded`);
    return true;
  }, []);

  async function loadAndFocus(request: PageRequest): Promise<void> {
    const button = document.activeElement;
    const container = button?.closest<HTMLElement>('article, main');
    const last = list.current?.lastElementChild;
    const loaded = await load(request);
    requestAnimationFrame(() => {
      // Keep the focus if it has moved elsewhere since the request.
      if (![button, document.body].includes(document.activeElement)) return;
      if (!loaded) {
        if (!button?.isConnected)
          container?.querySelector<HTMLElement>('[role="alert"] button')?.focus();
        return;
      }
      // The button may have been removed, so focus the first loaded note.
      const firstLoaded =
        request.part === 'older' ? last?.nextElementSibling : list.current?.firstElementChild;
      (firstLoaded?.querySelector('article') ?? container)?.focus();
    });
  }

  useEffect(() => void load({ path: first, part: 'first' }), [first, load]);

  return {
    notes,
    notice,
    list,
    /** Retries the failed request, if there is one. */
    retry: failed && (() => loadAndFocus(failed)),
    loadNewer: useCallback(() => load({ path: first, part: 'newer' }), [first, load]),
    loadOlder: next ? () => loadAndFocus({ path: next, part: 'older' }) : undefined,
  };
}
