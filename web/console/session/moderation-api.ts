import { syncClock } from '../../shared/clock.ts';
import { randomUuid } from '../../shared/random.ts';
import { get, set } from './state.ts';

/** Why an API call failed. */
export class Failure extends Error {
  /** HTTP status, or 0 if there was no readable response. */
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;

  constructor(
    status: number,
    code: string,
    message: string,
    details: Record<string, unknown> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  get reason(): string {
    return typeof this.details.reason === 'string' ? this.details.reason : this.code;
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

const RETRY_DELAYS_MS = [400, 1500];
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls that lost their session and wait until a moderator signs in again. */
let waitingCalls: { resolve: () => void; reject: (failure: Failure) => void }[] = [];

let signIns = 0;

/** Number of the current session. A 401 from an earlier session does not affect this one. */
export const sessionNumber = (): number => signIns;

export function sessionLost(session: number): void {
  if (get().session !== 'in' || session !== signIns) return;
  set({ session: 'lost', stream: 'paused' });
}

export function sessionResumed(sameModerator: boolean): void {
  signIns++;
  const resumed = waitingCalls;
  waitingCalls = [];
  // Never send one moderator's decision in the name of another.
  for (const { resolve, reject } of resumed)
    if (sameModerator) resolve();
    else reject(otherModeratorFailure());
}

const otherModeratorFailure = () =>
  new Failure(401, 'moderator_required', 'Another moderator has signed in.');

export const nextSignIn = (): Promise<void> =>
  new Promise((resolve, reject) => waitingCalls.push({ resolve, reject }));

/** Header with the expected moderator: another tab may have replaced the shared session cookie. */
export function moderatorHeader(): Record<string, string> {
  const { me } = get();
  return me ? { 'expected-moderator': me.id } : {};
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
  const { me } = get();
  for (let attempt = 0; ; attempt++) {
    // Never send one moderator's request in the name of another.
    if (me && !isSessionCall && get().me?.id !== me.id) throw otherModeratorFailure();
    const session = signIns;
    try {
      return await callOnce<Body>(method, path, body, key);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.status === 401 && get().session !== 'out' && !isSessionCall) {
        if (get().session === 'unknown') throw error;
        if (session === signIns) {
          sessionLost(session);
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
  if (body) headers['content-type'] = 'application/json';
  if (key) headers['idempotency-key'] = key;
  const response = await fetch(`/api/moderation/${path}`, {
    method,
    headers,
    cache: 'no-store',
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch(() => undefined);
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
  void fetch(`/api/moderation/${path}`, {
    method: 'POST',
    headers: { ...moderatorHeader(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
    keepalive: true,
  }).catch(() => undefined);
}

/** Returns the error if it is a `Failure`, and rethrows any other error. */
export const toFailure = (error: unknown): Failure => {
  if (error instanceof Failure) return error;
  throw error;
};
