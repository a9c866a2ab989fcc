import type { Moderator } from '../words/api-model.ts';
import { Failure } from '../words/failure.ts';
import { createState } from './store.ts';

export const connectionState = createState({
  page: {
    me: null as Moderator | null,
    /** `unknown` until the first answer; `lost` keeps the state and asks for the token again. */
    session: 'unknown' as 'unknown' | 'out' | 'in' | 'lost',
    stream: 'connecting' as 'live' | 'connecting' | 'paused',
  },
});

let signIns = 0;

/** Number of the current session. A 401 from an earlier session does not affect this one. */
export const sessionNumber = (): number => signIns;

/** Calls that lost their session and wait until a moderator signs in again. */
let waitingCalls: { resolve: () => void; reject: (failure: Failure) => void }[] = [];

export const nextSignIn = (): Promise<void> =>
  new Promise((resolve, reject) => waitingCalls.push({ resolve, reject }));

export const otherModeratorFailure = (): Failure =>
  new Failure(401, 'moderator_required', 'Another moderator has signed in.');

export const startSession = (me: Moderator): void => connectionState.set({ me, session: 'in' });

export const endSession = (): void => connectionState.set({ me: null, session: 'out' });

export function loseSession(session: number): void {
  if (connectionState().session !== 'in' || session !== signIns) return;
  connectionState.set({ session: 'lost', stream: 'paused' });
}

/** Sends the calls that wait, after a moderator has signed in. */
export function resumeCalls(sameModerator: boolean): void {
  signIns++;
  const resumed = waitingCalls;
  waitingCalls = [];
  // Never send one moderator's decision in the name of another.
  for (const { resolve, reject } of resumed)
    if (sameModerator) resolve();
    else reject(otherModeratorFailure());
}

export const setStream = (stream: 'live' | 'paused'): void => connectionState.set({ stream });
