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

export interface ListParts {
  experience: Experience;
  session: Session | undefined;
  own: OwnNotes;
}

/** Notes of an experience, or the replies to one, page by page. */
export function useNotes(experience: Experience, parentId: string | null) {
  const first = `/api/guestbook?${new URLSearchParams({
    experience,
    ...(parentId ? { parent_id: parentId } : {}),
  })}`;
  const [notes, setNotes] = useState<Note[]>();
  const [next, setNext] = useState<string>();
  const [failed, setFailed] = useState(false);
  const [notice, setNotice] = useState('');
  const asked = useRef(0);

  const load = useCallback(async (path: string, more: boolean) => {
    asked.current += 1;
    const turn = asked.current;
    const answer = await call<Read>('GET', path);
    // The reader has gone on to another list meanwhile.
    if (turn !== asked.current) return;
    setFailed(answer.kind !== 'done');
    if (answer.kind !== 'done') return;
    const { entries } = answer.body;
    setNotice(answer.body.notice);
    setNext(nextLink(answer.headers));
    setNotes((known = []) => {
      if (!more) return entries;
      const ids = new Set(known.map(({ id }) => id));
      return [...known, ...entries.filter(({ id }) => !ids.has(id))];
    });
    if (more) announce(`${entries.length} older notes`);
  }, []);

  useEffect(() => {
    setNotes(undefined);
    setNext(undefined);
    void load(first, false);
  }, [first, load]);

  return {
    notes,
    failed,
    notice,
    reload: () => load(notes && next ? next : first, Boolean(notes && next)),
    older: next ? () => load(next, true) : undefined,
  };
}
