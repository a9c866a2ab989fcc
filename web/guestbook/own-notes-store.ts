import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Experience } from '../../domain/guestbook/words.ts';
import { call } from '../shared/api.ts';
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
  /** Of a member's note. */
  outcome?: Outcome;
  appealed?: boolean;
  actions?: readonly string[];
  /** Of a guest's note. */
  checkedAt?: number;
}

/** A note as the service lists it for its member. */
interface ListedNote {
  id: string;
  experience: Experience;
  parent_id: string | null;
  /** Null once it was erased. */
  message: string | null;
  outcome: Outcome;
  appeal: 'open' | 'upheld' | null;
  actions: string[];
  submitted_at: string;
}

interface NotesPage {
  notes: ListedNote[];
  next_cursor: string | null;
}

/** A member's notes that were read so far. */
interface MemberNotes {
  handle: string;
  notes: readonly OwnNote[];
  /** Leads to older notes; null at the end, undefined before the first answer. */
  next: string | null | undefined;
}

const MAX_GUEST_NOTES = 20;
const PAGE_NOTES = 20;
const CHECK_INTERVAL_MS = 60_000;
const DECIDED_CHECK_INTERVAL_MS = 3_600_000;

let lastRequest = 0;
/** By note id: the number of the latest status request that was answered. */
const answeredRequests = new Map<string, number>();

/** Whether an answer about a note is newer than the one that is shown; notes that it is. */
function isNews(id: string, request: number): boolean {
  if ((answeredRequests.get(id) ?? 0) > request) return false;
  answeredRequests.set(id, request);
  return true;
}

const isGuests = ({ body }: OwnNote): boolean => body.attribution === 'guest';
const isWaiting = ({ standing }: OwnNote): boolean => standing === 'pending_review';

export type OwnNotes = ReturnType<typeof useOwnNotes>;

/** The member's notes, from the service, and the notes that guests sent from this browser. */
export function useOwnNotes(session: Session | undefined) {
  const guests = useGuestNotes();
  const members = useMemberNotes(session);

  const check = useCallback(
    async (note: OwnNote) => {
      const { body } = note;
      const request = ++lastRequest;
      const answer = isGuests(note)
        ? await call<Outcome>('POST', '/api/guestbook', { body })
        : await call<Outcome>('GET', `/api/guestbook/${body.id}/outcome`);
      if (answer.kind !== 'ok') {
        if (needsSignIn(answer)) session?.end({ showNotice: true });
        return;
      }
      if (!isNews(body.id, request)) return;
      const { status: standing } = answer.body;
      if (isGuests(note)) guests.update(body.id, { standing, checkedAt: Date.now() });
      else members.update(body.id, { standing, outcome: answer.body });
    },
    [guests.update, members.update, session],
  );

  const mine = [...members.notes, ...guests.notes].sort((one, other) => other.sentAt - one.sentAt);
  const checkAll = () => Promise.all([members.load(), ...guests.notes.map(check)]);
  const waiting = mine.filter(isWaiting);

  useEffect(() => {
    void members.load();
  }, [members.load]);

  useEffect(() => {
    // A decided note can still be removed or restored, but rarely, so check it once an hour.
    // `Math.abs`, because this device's clock may have been set back since.
    const isDue = ({ checkedAt = 0 }: OwnNote) =>
      Math.abs(Date.now() - checkedAt) > DECIDED_CHECK_INTERVAL_MS;
    for (const note of guests.notes) if (isWaiting(note) || isDue(note)) void check(note);
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible' || waiting.length === 0) return;
      if (!waiting.every(isGuests)) void members.load();
      for (const note of waiting) if (isGuests(note)) void check(note);
    }, CHECK_INTERVAL_MS);
    return () => clearInterval(timer);
    // Runs again after sign-in or sign-out, and when the number of waiting notes changes.
  }, [session?.handle, waiting.length]);

  return {
    mine,
    checkAll,
    check,
    loadMore: members.loadMore,
    /** The member corrected the text of the note. */
    corrected: ({ body }: OwnNote, message: string) =>
      members.update(body.id, { body: { ...body, message } }),
    /** The note's appeal was sent. */
    appealed: (id: string) => members.update(id, { appealed: true }),
    add: (note: OwnNote) => (isGuests(note) ? guests : members).add(note),
    /** Removes a guest's note from the list of this browser. */
    remove: guests.remove,
  };
}

/** The notes that guests sent from this browser, in its storage. */
function useGuestNotes() {
  // Read once the page is taken over, because the server rendered it without them.
  const [notes, setNotes] = useState<readonly OwnNote[]>([]);

  const change = useCallback((next: (notes: OwnNote[]) => OwnNote[]) => {
    setNotes(() => {
      // Read the storage again, so that changes by other tabs are kept. Earlier versions of this
      // page stored the notes of members, too.
      const stored = readLocalData<OwnNote[]>('own') ?? [];
      const changed = next(stored.filter(isGuests)).slice(0, MAX_GUEST_NOTES);
      if (changed.length + stored.length > 0)
        saveLocalData('own', changed.length > 0 ? changed : undefined);
      return changed;
    });
  }, []);
  useLayoutEffect(() => change((stored) => stored), [change]);

  const update = useCallback(
    (id: string, changes: Partial<OwnNote>) =>
      change((all) => all.map((note) => (note.body.id === id ? { ...note, ...changes } : note))),
    [change],
  );

  return {
    notes,
    update,
    // A note that was sent twice replaces its earlier entry.
    add: (note: OwnNote) =>
      change((all) => [note, ...all.filter(({ body }) => body.id !== note.body.id)]),
    remove: (id: string) => change((all) => all.filter(({ body }) => body.id !== id)),
  };
}

/** The notes of the signed-in member, in pages from the service. */
function useMemberNotes(session: Session | undefined) {
  const [known, setKnown] = useState<MemberNotes>();
  const handle = session?.handle;
  const mine = known && known.handle === handle ? known : undefined;

  /** Changes the notes of this member; those of the member before are forgotten. */
  const change = useCallback(
    (next: (mine: MemberNotes) => Omit<MemberNotes, 'handle'>) =>
      setKnown((before) => {
        if (handle === undefined) return undefined;
        const same = before?.handle === handle;
        return { handle, ...next(same ? before : { handle, notes: [], next: undefined }) };
      }),
    [handle],
  );

  const read = useCallback(
    async (cursor?: string) => {
      if (!session) return;
      const request = ++lastRequest;
      const query = new URLSearchParams({ limit: `${PAGE_NOTES}`, ...(cursor ? { cursor } : {}) });
      const answer = await call<NotesPage>('GET', `/api/membership/notes?${query}`);
      if (answer.kind !== 'ok') {
        if (needsSignIn(answer)) session.end({ showNotice: true });
        return;
      }
      const { notes, next_cursor } = answer.body;
      const news = notes
        .filter(({ id }) => isNews(id, request))
        .map((note) => toOwnNote(note, session.handle));
      // The first page is read again and again; only the first time does it lead to the rest.
      change(({ notes, next }) => ({
        notes: merge(notes, news),
        next: cursor || next === undefined ? next_cursor : next,
      }));
    },
    [session, change],
  );

  const notes = mine?.notes ?? [];
  const next = mine?.next;
  return {
    notes,
    load: useCallback(() => read(), [read]),
    /** Reads older notes; undefined if there are no more. */
    loadMore: next ? () => read(next) : undefined,
    add: (note: OwnNote) => change(({ notes, next }) => ({ notes: merge(notes, [note]), next })),
    update: useCallback(
      (id: string, changes: Partial<OwnNote>) =>
        change(({ notes, next }) => ({
          notes: notes.map((note) => (note.body.id === id ? { ...note, ...changes } : note)),
          next,
        })),
      [change],
    ),
  };
}

/** The notes with these new ones, which replace those with the same ids. */
function merge(notes: readonly OwnNote[], news: readonly OwnNote[]): OwnNote[] {
  const ids = new Set(news.map(({ body }) => body.id));
  return [...notes.filter(({ body }) => !ids.has(body.id)), ...news];
}

function toOwnNote(note: ListedNote, handle: string): OwnNote {
  const { id, message, experience, parent_id, outcome, appeal, actions, submitted_at } = note;
  return {
    body: {
      id,
      message: message ?? '',
      experience,
      parent_id,
      attribution: 'member',
      member_handle: handle,
    },
    sentAt: Date.parse(submitted_at),
    standing: outcome.status,
    outcome,
    appealed: appeal === 'open',
    actions,
  };
}
