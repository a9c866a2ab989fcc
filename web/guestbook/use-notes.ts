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

  const load = useCallback(async (path: string, part: 'first' | 'older' | 'newer') => {
    asked.current += 1;
    const turn = asked.current;
    const answer = await call<Read>('GET', path);
    // The reader has gone on to another list meanwhile.
    if (turn !== asked.current) return;
    setFailed(answer.kind !== 'done');
    if (answer.kind !== 'done') return;
    const { entries } = answer.body;
    setNotice(answer.body.notice);
    if (part !== 'newer') setNext(nextLink(answer.headers));
    setNotes((known = []) => {
      if (part === 'first') return entries;
      const ids = new Set(known.map(({ id }) => id));
      const unknown = entries.filter(({ id }) => !ids.has(id));
      return part === 'newer' ? [...unknown, ...known] : [...known, ...unknown];
    });
    if (part === 'older') announce(`${entries.length} older notes`);
  }, []);

  useEffect(() => {
    setNotes(undefined);
    setNext(undefined);
    void load(first, 'first');
  }, [first, load]);

  return {
    notes,
    failed,
    notice,
    again: () => (notes && next ? load(next, 'older') : load(first, 'first')),
    newer: useCallback(() => load(first, 'newer'), [first, load]),
    older: next ? () => load(next, 'older') : undefined,
  };
}
