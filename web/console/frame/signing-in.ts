import { startRenewals } from '../claims/watch-leases.ts';
import { loadPolicies } from '../decide/policy-list.tsx';
import { decisionState } from '../decide/undo.ts';
import { storeLease } from '../in-progress/leases.ts';
import { loadSavedViews } from '../list/saved-views.ts';
import { follow } from '../live/live.ts';
import { forgetPlace, readLinked, resetFocus } from '../queue/navigation.ts';
import { loadList, refreshList } from '../queue/queue.ts';
import { placeState } from '../queue/queue-state.ts';
import { connectionState, endSession, resumeCalls, startSession } from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import { call, deleteSession } from '../session/moderation-api.ts';
import { createState, resetSession } from '../session/store.ts';
import { isList, type Lease, type Moderator } from '../words/api-model.ts';
import { toFailure } from '../words/failure.ts';
import { formatDuration, plural } from '../words/format.ts';

interface Me {
  moderator: Moderator;
  leases: Lease[];
}

export const signInState = createState({
  session: {
    /** What the sign-in page says of the session before. */
    farewell: null as string | null,
    /** Why the session could not be resumed. */
    fault: null as string | null,
  },
});

let following = false;

const SIGNED_IN = 'moderation.signed-in';

/** Notes whether this browser has a session; its cookie is out of the reach of scripts. */
function noteSession(signedIn: boolean): void {
  try {
    if (signedIn) localStorage.setItem(SIGNED_IN, 'yes');
    else localStorage.removeItem(SIGNED_IN);
  } catch {
    // Without storage, each page asks the service.
  }
}

function mayHaveSession(): boolean {
  try {
    return localStorage.getItem(SIGNED_IN) !== null;
  } catch {
    return true;
  }
}

function startConsole(): void {
  startSummary();
  void loadPolicies();
  void loadSavedViews();
  if (isList(placeState().view)) void loadList();
  void readLinked();
  if (following) return;
  following = true;
  startRenewals();
  void follow();
}

/**
 * Resumes the session of the cookie, if there is one. Where no moderator has signed in, the service is not
 * asked: the browser would log its refusal as an error.
 */
export async function resumeSession(): Promise<void> {
  if (!mayHaveSession()) {
    endSession();
    return;
  }
  try {
    const { moderator, leases } = await call<Me>('GET', 'me');
    startSession(moderator);
    for (const lease of leases) storeLease(lease, 'elsewhere');
    startConsole();
  } catch (error) {
    const { status } = toFailure(error);
    if (status === 401) noteSession(false);
    endSession();
    signInState.set({ fault: status === 401 ? null : 'The service cannot be reached.' });
  }
}

/** Exchanges the token for a session cookie. Resolves to null, or to an error message. */
export async function signIn(token: string): Promise<string | null> {
  const before = connectionState();
  try {
    const { moderator } = await call<Me>('POST', 'session', { token });
    noteSession(true);
    const sameModerator = before.me?.id === moderator.id;
    const resumed = before.session === 'lost' && sameModerator;
    // Another moderator starts with a clean state, without the drafts and leases of the first.
    if (!resumed) {
      if (before.me) forgetPlace();
      resetSession();
      resetFocus();
    }
    startSession(moderator);
    resumeCalls(sameModerator);
    if (resumed) void refreshList();
    else startConsole();
    return null;
  } catch (error) {
    const failure = toFailure(error);
    if (failure.status === 401) return 'This token is not accepted.';
    if (failure.status === 429) return 'Too many attempts. Try again in ten minutes.';
    return failure.message;
  }
}

/** Signs out; the service releases the leases, and the state is reset so that no data remains. */
export async function signOut(): Promise<void> {
  try {
    await deleteSession();
  } catch (error) {
    if (toFailure(error).status !== 401) {
      showToast('Not signed out: the service cannot be reached.', { tone: 'alert' });
      return;
    }
  }
  noteSession(false);
  const farewell = sessionSummary();
  forgetPlace();
  resetSession();
  resetFocus();
  endSession();
  signInState.set({ farewell });
}

let startedAt = Date.now();

/** Begins to count the time of a session. */
function startSummary(): void {
  startedAt = Date.now();
}

/** What a moderator did since signing in, to read at the end of it; null for nothing. */
function sessionSummary(): string | null {
  const { made } = decisionState();
  if (made === 0) return null;
  const seconds = Math.max(60, Math.floor((Date.now() - startedAt) / 1000));
  return `Signed out. You decided on ${plural(made, 'item')} in ${formatDuration(seconds)}.`;
}
