import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../shared/api.ts';
import { byThisClock, heardTime } from '../shared/clock.ts';
import { keep, readKept } from './kept.ts';

export interface Session {
  id: string;
  handle: string;
  /** Seconds of this device's clock since 1970. */
  expiresAt: number;
  /** The service says that it has ended. */
  ended: () => void;
}

interface Me {
  id: string;
  expires_at: number;
  member: { handle: string };
}

export type Membership = ReturnType<typeof useMembership>;

/**
 * The member of this browser. The session itself is a cookie that no script can read; only its end
 * is kept, so that guests are not asked about a session that they never had. The sign-in key stays
 * in memory until the page is left.
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

  const load = useCallback(async () => {
    const before = ends.current;
    const answer = await call<Me>('GET', '/api/membership/me');
    // A session that ended while it was asked for is over, whatever was answered.
    if (ends.current !== before) return answer;
    if (answer.kind === 'problem' && answer.status === 401) forget();
    if (answer.kind !== 'done') return answer;
    const { id, expires_at, member } = answer.body;
    heardTime(answer.headers);
    const expiresAt = byThisClock(expires_at * 1000) / 1000;
    keep('session-until', expiresAt);
    setSession({ id, handle: member.handle, expiresAt, ended: forget });
    return answer;
  }, [forget]);

  useEffect(() => {
    if ((readKept<number>('session-until') ?? 0) * 1000 > Date.now()) void load();
    // Another tab signed in or out.
    const follow = ({ key, newValue }: StorageEvent) => {
      if (key !== 'guestbook.session-until') return;
      if (newValue === null) forget();
      else void load();
    };
    addEventListener('storage', follow);
    return () => removeEventListener('storage', follow);
  }, [load, forget]);

  useEffect(() => {
    if (!session) return undefined;
    const left = session.expiresAt * 1000 - Date.now();
    const timer = setTimeout(
      () => {
        forget();
        onEnd('Your session has ended. Sign in again to go on as a member.');
      },
      Math.max(0, left),
    );
    return () => clearTimeout(timer);
  }, [session, forget, onEnd]);

  async function signIn(id: string, key: string): Promise<Answer<unknown>> {
    const answer = await call('POST', '/api/membership/login', { body: { id, sign_in_key: key } });
    if (answer.kind !== 'done') return answer;
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
