import { loadPolicies } from '../decide/policy-list.ts';
import { loadSavedViews } from '../list/saved-views.ts';
import { follow } from '../live/live.ts';
import { NO_FILTERS, viewAddress } from '../queue/address.ts';
import { readLinked } from '../queue/navigation.ts';
import { loadList, refreshList } from '../queue/queue.ts';
import { call, sessionResumed, toFailure } from '../session/moderation-api.ts';
import { get, set, showToast, type store } from '../session/state.ts';
import type { Lease, Moderator } from '../words/api-model.ts';
import { isList } from '../words/api-model.ts';
import { startRenewals, storeLease } from '../work/leases.ts';
import { sessionSummary, startSummary } from './summary.ts';

interface Me {
  moderator: Moderator;
  leases: Lease[];
}

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
  if (isList(get().view)) void loadList();
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
    set({ session: 'out' });
    return;
  }
  try {
    const { moderator, leases } = await call<Me>('GET', 'me');
    set({
      me: moderator,
      session: 'in',
    });
    for (const lease of leases) storeLease(lease, 'elsewhere');
    startConsole();
  } catch (error) {
    const { status } = toFailure(error);
    if (status === 401) noteSession(false);
    set({ session: 'out', listFault: status === 401 ? null : 'The service cannot be reached.' });
  }
}

/** Exchanges the token for a session cookie. Resolves to null, or to an error message. */
export async function signIn(token: string): Promise<string | null> {
  const before = get();
  try {
    const { moderator } = await call<Me>('POST', 'session', { token });
    noteSession(true);
    const sameModerator = before.me?.id === moderator.id;
    // Another moderator starts with a clean state, without the drafts and leases of the first.
    if (before.session === 'lost' && sameModerator) set({ session: 'in', me: moderator });
    else {
      if (before.me) forgetPlace();
      set({ ...emptyState(), session: 'in', me: moderator });
    }
    sessionResumed(sameModerator);
    if (before.session === 'lost' && sameModerator) void refreshList();
    else startConsole();
    return null;
  } catch (error) {
    const failure = toFailure(error);
    if (failure.status === 401) return 'This token is not accepted.';
    if (failure.status === 429) return 'Too many attempts. Try again in ten minutes.';
    return failure.message;
  }
}

/** Drops filters and item of the address, which may tell what the previous moderator looked for. */
function forgetPlace(): void {
  const { view } = get();
  set({ filters: NO_FILTERS, linkedId: null });
  history.replaceState(null, '', viewAddress(view));
}

const emptyState = () =>
  ({
    items: [],
    gone: new Set<string>(),
    arrivals: [],
    nextCursor: null,
    listFault: null,
    linked: null,
    focusId: get().linkedId,
    open: get().linkedId !== null,
    selected: new Set<string>(),
    leases: new Map(),
    decided: new Map(),
    ownDecisions: [],
    marks: new Map(),
    details: new Map(),
    drafts: new Map(),
    panel: null,
    batch: null,
    membership: null,
    drawer: false,
    toast: null,
    counts: null,
    colleagues: 0,
    savedViews: [],
    revealed: new Set<string>(),
    made: 0,
    farewell: null as string | null,
  }) satisfies Partial<ReturnType<typeof store.get>>;

/** Signs out; the service releases the leases, and the state is reset so that no data remains. */
export async function signOut(): Promise<void> {
  try {
    await call('DELETE', 'session');
  } catch (error) {
    if (toFailure(error).status !== 401) {
      showToast('Not signed out: the service cannot be reached.', { tone: 'alert' });
      return;
    }
  }
  noteSession(false);
  const farewell = sessionSummary();
  forgetPlace();
  set({ ...emptyState(), me: null, session: 'out', farewell });
}
