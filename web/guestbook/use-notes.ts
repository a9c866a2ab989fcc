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

interface Read {
  entries: Note[];
  notice: string;
}

interface Wish {
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
  const [failed, setFailed] = useState<Wish>();
  const [notice, setNotice] = useState('');
  const list = useRef<HTMLOListElement>(null);

  const load = useCallback(async ({ path, part }: Wish) => {
    const answer = await call<Read>('GET', path);
    setFailed(answer.kind === 'done' ? undefined : { path, part });
    if (answer.kind !== 'done') return false;
    const { entries } = answer.body;
    setNotice(answer.body.notice);
    if (part !== 'newer') setNext(nextLink(answer.headers));
    setNotes((known = []) => {
      const ids = new Set(known.map(({ id }) => id));
      const unknown = entries.filter(({ id }) => !ids.has(id));
      return part === 'newer' ? [...unknown, ...known] : [...known, ...unknown];
    });
    if (part === 'older') announce(`${entries.length} older notes loaded`);
    return true;
  }, []);

  async function ask(wish: Wish): Promise<void> {
    const button = document.activeElement;
    const around = button?.closest<HTMLElement>('article, main');
    const last = list.current?.lastElementChild;
    const done = await load(wish);
    requestAnimationFrame(() => {
      // Keep the focus if it has moved elsewhere since the request.
      if (![button, document.body].includes(document.activeElement)) return;
      if (!done) {
        if (!button?.isConnected)
          around?.querySelector<HTMLElement>('[role="alert"] button')?.focus();
        return;
      }
      // The button may have been removed, so focus the first loaded note.
      const brought =
        wish.part === 'older' ? last?.nextElementSibling : list.current?.firstElementChild;
      (brought?.querySelector('article') ?? around)?.focus();
    });
  }

  useEffect(() => void load({ path: first, part: 'first' }), [first, load]);

  return {
    notes,
    notice,
    list,
    /** Retries the failed request, if there is one. */
    again: failed && (() => ask(failed)),
    newer: useCallback(() => load({ path: first, part: 'newer' }), [first, load]),
    older: next ? () => ask({ path: next, part: 'older' }) : undefined,
  };
}
