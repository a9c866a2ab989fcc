import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../shared/api.ts';
import { syncClock, toLocalTime } from '../shared/time.tsx';
import { deleteDraftsOf } from './drafts.ts';
import { isMemberId, toHandle } from './key-fields.tsx';
import { readLocalData, saveLocalData } from './local-data.ts';
import { openWithPasskey, type PasskeyRequest, type Unanswered } from './passkey.ts';

export interface Session {
  id: string;
  handle: string;
  /** Unix seconds by this device's clock. */
  expiresAt: number;
  /** Call when the service rejects this session; `showNotice`: show a notice. */
  end: (options?: { showNotice?: boolean }) => void;
}

interface Me {
  id: string;
  expires_at: number;
  member: { handle: string };
}

const CLOCK_TOLERANCE_MS = 5000;
/** How long before its end a page offers to renew the session. */
const RENEWAL_MS = 5 * 60_000;
const SESSION_ENDED = 'Your session has ended. Sign in again to continue as a member.';

export type Membership = ReturnType<typeof useMembership>;

/**
 * The membership of this browser. The session is a cookie that no script can read. Only its expiry
 * time is stored, so that the page does not query a session for guests who never had one. The
 * sign-in key stays in memory until the page closes.
 */
export function useMembership(onEnd: (why: string) => void) {
  const [session, setSession] = useState<Session>();
  const signInKey = useRef<string | undefined>(undefined);
  const [endsSoon, setEndsSoon] = useState(false);
  const generation = useRef(0);
  const isSigningOut = useRef(false);

  const clearSession = useCallback(() => {
    generation.current += 1;
    saveLocalData('session-until', undefined);
    signInKey.current = undefined;
    setSession(undefined);
  }, []);

  const loadSession = useCallback(
    async ({ followed = false } = {}) => {
      const before = generation.current;
      const answer = await call<Me>('GET', '/api/membership/me');
      // The session ended while the request was in flight, so ignore the answer.
      if (generation.current !== before) return answer;
      if (answer.kind === 'problem' && answer.status === 401) clearSession();
      if (answer.kind !== 'ok') return answer;
      const { id, expires_at, member } = answer.body;
      syncClock(answer.headers);
      const expiresAt = toLocalTime(expires_at * 1000) / 1000;
      // The value varies slightly per request. If a tab stored it in response to a storage event,
      // two tabs would make each other reload in an endless loop.
      if (!followed) saveLocalData('session-until', expiresAt);
      const end: Session['end'] = ({ showNotice = false } = {}) => {
        // Ignore an answer that belongs to an earlier session, or to the one that the member ends.
        if (generation.current !== before || isSigningOut.current) return;
        clearSession();
        if (showNotice) onEnd(SESSION_ENDED);
      };
      setSession({ id, handle: member.handle, expiresAt, end: end });
      return answer;
    },
    [clearSession, onEnd],
  );

  const expire = useCallback(() => {
    clearSession();
    onEnd(SESSION_ENDED);
  }, [clearSession, onEnd]);

  useStoredSession({ loadSession, clearSession, expire });
  useExpiry(session, expire, setEndsSoon);

  /** Signs in with the member id or the handle. */
  async function signIn(name: string, key: string): Promise<Answer<unknown>> {
    const answer = isMemberId(name)
      ? await call('POST', '/api/membership/login', {
          body: { id: name.trim(), sign_in_key: key },
        })
      : await call('POST', '/api/membership/sign-in', {
          body: { handle: toHandle(name), sign_in_key: key },
        });
    if (answer.kind !== 'ok') return answer;
    // Requests that were sent before belong to an earlier session.
    generation.current += 1;
    signInKey.current = key;
    return loadSession();
  }

  /**
   * Begins a new session with the key that the member entered on this page. Undefined without one: the member
   * then signs in with a form.
   */
  async function renew(): Promise<Answer<unknown> | undefined> {
    const { current: key } = signInKey;
    return session && key ? signIn(session.id, key) : undefined;
  }

  /** Signs in with a passkey of this device. */
  async function signInWithPasskey(
    request?: PasskeyRequest,
  ): Promise<Answer<unknown> | Unanswered> {
    const answer = await openWithPasskey(request);
    if (answer.kind !== 'ok') return answer;
    generation.current += 1;
    signInKey.current = undefined;
    return loadSession();
  }

  async function signOut(): Promise<Answer<unknown>> {
    isSigningOut.current = true;
    const answer = await call('POST', '/api/membership/logout', { body: {} });
    isSigningOut.current = false;
    if (answer.kind !== 'ok') return answer;
    if (session) deleteDraftsOf(session.handle);
    clearSession();
    return answer;
  }

  return {
    session,
    /** Whether the session ends within five minutes. */
    endsSoon,
    signIn,
    renew,
    signInWithPasskey,
    signOut,
    clear: clearSession,
    signInKey: () => signInKey.current,
  };
}

interface SessionActions {
  loadSession: (options?: { followed: boolean }) => Promise<unknown>;
  clearSession: () => void;
  expire: () => void;
}

/** Loads the session that this browser has, and follows sign-in and sign-out on its other pages. */
function useStoredSession({ loadSession, clearSession, expire }: SessionActions): void {
  useEffect(() => {
    const isStored = () => (readLocalData<number>('session-until') ?? 0) * 1000 > Date.now();
    if (isStored()) void loadSession();
    // The browser may show a page again as it was left, before a sign-in or sign-out elsewhere.
    const resume = ({ persisted }: PageTransitionEvent) => {
      if (persisted && isStored()) void loadSession({ followed: true });
      else if (persisted) clearSession();
    };
    // Follows sign-in and sign-out in other tabs.
    const follow = ({ key, newValue, oldValue }: StorageEvent) => {
      if (key !== 'guestbook.session-until') return;
      if (newValue !== null) void loadSession({ followed: true });
      // Removal at about the expiry time means that the session expired in another tab first; the
      // expiry times of two tabs differ slightly.
      else if (Number(oldValue) * 1000 - CLOCK_TOLERANCE_MS <= Date.now()) expire();
      else clearSession();
    };
    addEventListener('storage', follow);
    addEventListener('pageshow', resume);
    return () => {
      removeEventListener('storage', follow);
      removeEventListener('pageshow', resume);
    };
  }, [loadSession, clearSession, expire]);
}

function useExpiry(
  session: Session | undefined,
  expire: () => void,
  setEndsSoon: (endsSoon: boolean) => void,
): void {
  useEffect(() => {
    setEndsSoon(false);
    if (!session) return undefined;
    const left = session.expiresAt * 1000 - Date.now();
    const timers = [
      setTimeout(expire, Math.max(0, left)),
      setTimeout(() => setEndsSoon(true), Math.max(0, left - RENEWAL_MS)),
    ];
    return () => timers.forEach(clearTimeout);
  }, [session, expire, setEndsSoon]);
}
