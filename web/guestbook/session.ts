import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../shared/api.ts';
import { byThisClock, heardTime } from '../shared/clock.ts';
import { keep, readKept } from './kept.ts';

export interface Session {
  id: string;
  handle: string;
  /** Unix seconds by this device's clock. */
  expiresAt: number;
  /** Call when the service rejects this session; `say` shows a notice if the caller shows none. */
  ended: (options?: { say?: boolean }) => void;
}

interface Me {
  id: string;
  expires_at: number;
  member: { handle: string };
}

const CLOCKS_DIFFER_MS = 5000;
const ENDED = 'Your session has ended. Sign in again to continue as a member.';

export type Membership = ReturnType<typeof useMembership>;

/**
 * The membership of this browser. The session is a cookie that no script can read. Only its expiry
 * time is stored, so that the page does not query a session for guests who never had one. The
 * sign-in key stays in memory until the page closes.
 */
export function useMembership(onEnd: (why: string) => void) {
  const [session, setSession] = useState<Session>();
  const signInKey = useRef<string | undefined>(undefined);
  const ends = useRef(0);

  const forget = useCallback(() => {
    ends.current += 1;
    keep('session-until', undefined);
    signInKey.current = undefined;
    setSession(undefined);
  }, []);

  const load = useCallback(
    async ({ followed = false } = {}) => {
      const before = ends.current;
      const answer = await call<Me>('GET', '/api/membership/me');
      // The session ended while the request was in flight, so ignore the answer.
      if (ends.current !== before) return answer;
      if (answer.kind === 'problem' && answer.status === 401) forget();
      if (answer.kind !== 'done') return answer;
      const { id, expires_at, member } = answer.body;
      heardTime(answer.headers);
      const expiresAt = byThisClock(expires_at * 1000) / 1000;
      // The value varies slightly per request. If a tab stored it in response to a storage event,
      // two tabs would make each other reload in an endless loop.
      if (!followed) keep('session-until', expiresAt);
      const ended: Session['ended'] = ({ say = false } = {}) => {
        // Ignore an answer that belongs to an earlier session.
        if (ends.current !== before) return;
        forget();
        if (say) onEnd(ENDED);
      };
      setSession({ id, handle: member.handle, expiresAt, ended });
      return answer;
    },
    [forget, onEnd],
  );

  useEffect(() => {
    if ((readKept<number>('session-until') ?? 0) * 1000 > Date.now()) void load();
    // Follows sign-in and sign-out in other tabs.
    const follow = ({ key, newValue, oldValue }: StorageEvent) => {
      if (key !== 'guestbook.session-until') return;
      if (newValue !== null) void load({ followed: true });
      else {
        forget();
        // Removal at about the expiry time means that the session expired in another tab first; the
        // expiry times of two tabs differ slightly.
        if (Number(oldValue) * 1000 - CLOCKS_DIFFER_MS <= Date.now()) onEnd(ENDED);
      }
    };
    addEventListener('storage', follow);
    return () => removeEventListener('storage', follow);
  }, [load, forget, onEnd]);

  useEffect(() => {
    if (!session) return undefined;
    const left = session.expiresAt * 1000 - Date.now();
    const timer = setTimeout(
      () => {
        forget();
        onEnd(ENDED);
      },
      Math.max(0, left),
    );
    return () => clearTimeout(timer);
  }, [session, forget, onEnd]);

  async function signIn(id: string, key: string): Promise<Answer<unknown>> {
    const answer = await call('POST', '/api/membership/login', { body: { id, sign_in_key: key } });
    if (answer.kind !== 'done') return answer;
    // Requests that were sent before belong to an earlier session.
    ends.current += 1;
    signInKey.current = key;
    return load();
  }

  async function signOut(): Promise<Answer<unknown>> {
    const answer = await call('POST', '/api/membership/logout', { body: {} });
    if (answer.kind === 'done') forget();
    return answer;
  }

  return { session, signIn, signOut, forget, signInKey: () => signInKey.current };
}
