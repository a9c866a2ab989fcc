import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import type { Experience } from './experience.ts';
import { readLocalData, saveLocalData } from './local-data.ts';
import { needsSignIn } from './problem-text.ts';
import type { Session } from './session.ts';

/** The request body of a note, kept so that an identical request can be sent again. */
export interface Submission {
  id: string;
  message: string;
  experience: Experience;
  parent_id: string | null;
  name?: string;
  attribution: 'guest' | 'member';
  member_handle?: string;
}

export type Standing = 'pending_review' | 'published' | 'not_published';

interface Outcome {
  status: Standing;
  outcome: string | null;
  policy: string | null;
  message: string | null;
  appeal_until: string | null;
}

export interface OwnNote {
  body: Submission;
  sentAt: number;
  standing: Standing;
  outcome?: Outcome;
  appealed?: boolean;
  checkedAt?: number;
}

const MAX_NOTES = 20;
const CHECK_INTERVAL_MS = 60_000;
const DECIDED_CHECK_INTERVAL_MS = 3_600_000;

let lastRequest = 0;
/** By note id: the number of the latest status request that was answered. */
const answeredRequests = new Map<string, number>();

export type OwnNotes = ReturnType<typeof useOwnNotes>;

/** The notes sent from this browser, with their status. */
export function useOwnNotes(session: Session | undefined) {
  // Read once the page is taken over, because the server rendered it without them.
  const [read, setNotes] = useState<OwnNote[]>();
  useLayoutEffect(() => setNotes(readLocalData('own') ?? []), []);
  const notes = read ?? [];
  // Hide notes that another member sent from this browser.
  const mine = notes.filter(
    ({ body }) => body.attribution === 'guest' || body.member_handle === session?.handle,
  );

  const changeNotes = useCallback((next: (notes: OwnNote[]) => OwnNote[]) => {
    setNotes(() => {
      // Read the storage again, so that changes by other tabs are kept.
      const changed = next(readLocalData('own') ?? []).slice(0, MAX_NOTES);
      saveLocalData('own', changed.length > 0 ? changed : undefined);
      return changed;
    });
  }, []);

  const update = useCallback(
    (id: string, changes: Partial<OwnNote>) =>
      changeNotes((all) =>
        all.map((note) => (note.body.id === id ? { ...note, ...changes } : note)),
      ),
    [changeNotes],
  );

  const check = useCallback(
    async ({ body }: OwnNote) => {
      const request = ++lastRequest;
      const guest = body.attribution === 'guest';
      const answer = guest
        ? await call<Outcome>('POST', '/api/guestbook', { body })
        : await call<Outcome>('GET', `/api/guestbook/${body.id}/outcome`);
      if (answer.kind !== 'ok') {
        if (needsSignIn(answer)) session?.end({ showNotice: true });
        return;
      }
      // Drop this answer if a later request has already been answered.
      if ((answeredRequests.get(body.id) ?? 0) > request) return;
      answeredRequests.set(body.id, request);
      const { status } = answer.body;
      const outcome = guest ? {} : { outcome: answer.body };
      update(body.id, { standing: status, ...outcome, checkedAt: Date.now() });
    },
    [update, session],
  );

  const pending = mine.filter(({ standing }) => standing === 'pending_review');
  const checkAll = () => Promise.all(mine.map(check));

  useEffect(() => {
    // A decided note can still be removed or restored, but rarely, so check it once an hour.
    // `Math.abs`, because this device's clock may have been set back since.
    const isDue = ({ checkedAt = 0 }: OwnNote) =>
      Math.abs(Date.now() - checkedAt) > DECIDED_CHECK_INTERVAL_MS;
    for (const note of mine)
      if (note.standing === 'pending_review' || isDue(note)) void check(note);
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && pending.length > 0)
        void Promise.all(pending.map(check));
    }, CHECK_INTERVAL_MS);
    return () => clearInterval(timer);
    // Runs again after sign-in or sign-out, and when the number of pending notes changes.
  }, [session?.handle, pending.length]);

  return {
    mine,
    loaded: read !== undefined,
    checkAll,
    check,
    update,
    // A note that was sent twice replaces its earlier entry.
    add: (note: OwnNote) =>
      changeNotes((all) => [note, ...all.filter(({ body }) => body.id !== note.body.id)]),
    remove: (id: string) => changeNotes((all) => all.filter(({ body }) => body.id !== id)),
    removeMembers: (handle: string) =>
      changeNotes((all) => all.filter(({ body }) => body.member_handle !== handle)),
  };
}
