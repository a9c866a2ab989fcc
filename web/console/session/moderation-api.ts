import { request } from '../../shared/api.ts';
import { randomUuid } from '../../shared/random.ts';
import { syncClock } from '../../shared/time.tsx';
import { Failure } from '../words/failure.ts';
import {
  connectionState,
  loseSession,
  nextSignIn,
  otherModeratorFailure,
  sessionNumber,
} from './connection.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

const RETRY_DELAYS_MS = [400, 1500];
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let lastRequest = 0;

/** Returns a new request number, which orders answers by the time of their requests. */
export const nextRequest = (): number => ++lastRequest;

/** Header with the expected moderator: another tab may have replaced the shared session cookie. */
export function moderatorHeader(): Record<string, string> {
  const { me } = connectionState();
  return me ? { 'expected-moderator': me.id } : {};
}

let reads = new AbortController();

/** Aborts when the session ends in this tab: the reads of the session, which would be refused. */
export const readSignal = (): AbortSignal => reads.signal;

/** Ends the session. Reads under way are aborted; those that begin meanwhile are sent again if it goes on. */
export async function deleteSession(): Promise<void> {
  reads.abort();
  try {
    await call('DELETE', 'session');
  } finally {
    reads = new AbortController();
  }
}

/**
 * Calls the moderation API, or throws a `Failure`. A POST carries an idempotency key. Reads and
 * requests with a key are retried twice after a network failure or a 503. A call that loses its
 * session waits, and is sent again after the same moderator has signed in.
 */
export async function call<Body>(
  method: Method,
  path: string,
  body?: object,
  givenKey?: string,
): Promise<Body> {
  const isSessionCall = path.startsWith('session');
  const newKey = method === 'POST' && !isSessionCall ? randomUuid() : undefined;
  const key = givenKey ?? newKey;
  const { me } = connectionState();
  for (let attempt = 0; ; attempt++) {
    const now = connectionState();
    // Never send one moderator's request in the name of another, or after the sign-out.
    const isOthers = now.session === 'out' || (me && now.me?.id !== me.id);
    if (isOthers && !isSessionCall) throw otherModeratorFailure();
    const session = sessionNumber();
    try {
      return await callOnce<Body>(method, path, body, key);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.status === 401 && connectionState().session !== 'out' && !isSessionCall) {
        if (connectionState().session === 'unknown') throw error;
        if (session === sessionNumber()) {
          loseSession(session);
          await nextSignIn();
        }
        continue;
      }
      const delayMs = RETRY_DELAYS_MS[attempt];
      const isTransient = error.status === 0 || error.status === 503;
      if (!isTransient || delayMs === undefined || (method !== 'GET' && !key)) throw error;
      await sleep(delayMs);
    }
  }
}

async function callOnce<Body>(
  method: Method,
  path: string,
  body: object | undefined,
  key: string | undefined,
): Promise<Body> {
  const headers = moderatorHeader();
  if (key) headers['idempotency-key'] = key;
  const response = await request(method, `/api/moderation/${path}`, {
    body,
    headers,
    cache: 'no-store',
    ...(method === 'GET' ? { signal: readSignal() } : {}),
  });
  if (response) syncClock(response.headers);
  else throw new Failure(0, 'network', 'The service cannot be reached.');
  const answer = await response.json().catch(() => undefined);
  if (response.ok && answer) return answer as Body;
  const { code, message, ...details } = (answer?.error ?? {}) as Record<string, string>;
  throw new Failure(
    response.ok ? 0 : response.status,
    code ?? 'unreadable',
    message ?? `The service answered ${response.status}.`,
    details,
  );
}

/** Sends a POST that outlives the page (`keepalive`), and ignores the answer. */
export function sendOnLeave(path: string, body: object): void {
  void request('POST', `/api/moderation/${path}`, {
    body,
    headers: moderatorHeader(),
    keepalive: true,
  });
}
