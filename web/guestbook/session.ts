import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, call } from '../shared/api.ts';
import { byThisClock, heardTime } from '../shared/clock.ts';
import { keep, readKept } from './kept.ts';

export interface Session {
  id: string;
  handle: string;
  /** Seconds of this device's clock since 1970. */
  expiresAt: number;
  /** The service says that it has ended, to what asked as this member; `say` where nothing else does. */
  ended: (options?: { say?: boolean }) => void;
}

interface Me {
  id: string;
  expires_at: number;
  member: { handle: string };
}

const CLOCKS_DIFFER_MS = 5000;
const ENDED = 'Your session has ended. Sign in again to go on as a member.';

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

  const load = useCallback(
    async ({ followed = false } = {}) => {
      const before = ends.current;
      const answer = await call<Me>('GET', '/api/membership/me');
      // A session that ended while it was asked for is over, whatever was answered.
      if (ends.current !== before) return answer;
      if (answer.kind === 'problem' && answer.status === 401) forget();
      if (answer.kind !== 'done') return answer;
      const { id, expires_at, member } = answer.body;
      heardTime(answer.headers);
      const expiresAt = byThisClock(expires_at * 1000) / 1000;
      // It differs a little each time: two tabs that kept it for each other would ask without an end.
      if (!followed) keep('session-until', expiresAt);
      const ended: Session['ended'] = ({ say = false } = {}) => {
        // The answer may be to a session before this one.
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
    // Another tab signed in or out.
    const follow = ({ key, newValue, oldValue }: StorageEvent) => {
      if (key !== 'guestbook.session-until') return;
      if (newValue !== null) void load({ followed: true });
      else {
        forget();
        // The tab whose clock struck first tells the others, whose own differ a little.
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
    // What was asked before was asked by another session.
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
