import { heardTime } from '../shared/clock.ts';
import { randomUuid } from '../shared/random.ts';
import { get, set } from './state.ts';

/** Why a call was not answered with what was asked for. */
export class Failure extends Error {
  /** 0: there was no answer. */
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

const RETRIES = [400, 1500];
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Those whose session was lost under them, until the same moderator has signed in again. */
let waiting: { resolve: () => void; reject: (failure: Failure) => void }[] = [];

let signIns = 0;

/** Which session it is: an answer to what was asked in an earlier one says nothing of this one. */
export const sessionNumber = (): number => signIns;

export function sessionLost(asked: number): void {
  if (get().session !== 'in' || asked !== signIns) return;
  set({ session: 'lost', stream: 'paused' });
}

export function sessionFound(sameModerator: boolean): void {
  signIns++;
  const those = waiting;
  waiting = [];
  // What one moderator decided is never sent in the name of another.
  for (const { resolve, reject } of those)
    if (sameModerator) resolve();
    else reject(anotherSignedIn());
}

const anotherSignedIn = () =>
  new Failure(401, 'moderator_required', 'Another moderator has signed in.');

export const signedInAgain = (): Promise<void> =>
  new Promise((resolve, reject) => waiting.push({ resolve, reject }));

/** Another tab may have put somebody else's session into the cookie that all of them share. */
export function asMyself(): Record<string, string> {
  const { me } = get();
  return me ? { 'expected-moderator': me.id } : {};
}

/**
 * One call of the moderators' API. A POST carries a key, so that it can be sent again where the
 * network failed; one that met the end of the session is sent again after the sign-in.
 */
export async function call<Body>(
  method: Method,
  path: string,
  body?: object,
  givenKey?: string,
): Promise<Body> {
  const ofSession = path.startsWith('session');
  const fresh = method === 'POST' && !ofSession ? randomUuid() : undefined;
  const key = givenKey ?? fresh;
  const { me } = get();
  for (let attempt = 0; ; attempt++) {
    // What one moderator asked for is never sent in the name of another.
    if (me && !ofSession && get().me?.id !== me.id) throw anotherSignedIn();
    const asked = signIns;
    try {
      return await once<Body>(method, path, body, key);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.status === 401 && get().session !== 'out' && !ofSession) {
        if (get().session === 'unknown') throw error;
        if (asked === signIns) {
          sessionLost(asked);
          await signedInAgain();
        }
        continue;
      }
      const pause = RETRIES[attempt];
      const passing = error.status === 0 || error.status === 503;
      if (!passing || pause === undefined || (method !== 'GET' && !key)) throw error;
      await sleep(pause);
    }
  }
}

async function once<Body>(
  method: Method,
  path: string,
  body: object | undefined,
  key: string | undefined,
): Promise<Body> {
  const headers = asMyself();
  if (body) headers['content-type'] = 'application/json';
  if (key) headers['idempotency-key'] = key;
  const response = await fetch(`/api/moderation/${path}`, {
    method,
    headers,
    cache: 'no-store',
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch(() => undefined);
  if (response) heardTime(response.headers);
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

/** For a page that is about to go: nobody waits for the answer. */
export function callAndLeave(path: string, body: object): void {
  void fetch(`/api/moderation/${path}`, {
    method: 'POST',
    headers: { ...asMyself(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
    keepalive: true,
  }).catch(() => undefined);
}

export const failureOf = (error: unknown): Failure => {
  if (error instanceof Failure) return error;
  throw error;
};
