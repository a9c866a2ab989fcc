import { call, failureOf, sessionFound } from './api.ts';
import { hold, keepLeases } from './leases.ts';
import { follow } from './live.ts';
import { loadPolicies } from './policy-list.ts';
import { loadList, refresh } from './queue.ts';
import { get, NO_FILTERS, set, type store, toast } from './state.ts';
import type { Lease, Moderator } from './wire.ts';
import { isList } from './wire.ts';

interface Me {
  moderator: Moderator;
  leases: Lease[];
}

let following = false;

function begin(): void {
  void loadPolicies();
  if (isList(get().view)) void loadList();
  if (following) return;
  following = true;
  keepLeases();
  void follow();
}

/** Resumes the session of the cookie, if there is one. */
export async function resume(): Promise<void> {
  try {
    const { moderator, leases } = await call<Me>('GET', 'me');
    set({
      me: moderator,
      session: 'in',
    });
    for (const lease of leases) hold(lease, 'elsewhere');
    begin();
  } catch (error) {
    const { status } = failureOf(error);
    set({ session: 'out', listFault: status === 401 ? null : 'The service cannot be reached.' });
  }
}

/** Exchanges the token for a session cookie. Resolves to null, or to an error message. */
export async function signIn(token: string): Promise<string | null> {
  const before = get();
  try {
    const { moderator } = await call<Me>('POST', 'session', { token });
    const same = before.me?.id === moderator.id;
    // Another moderator starts with a clean state, without the drafts and leases of the first.
    if (before.session === 'lost' && same) set({ session: 'in', me: moderator });
    else set({ ...clean(), session: 'in', me: moderator });
    sessionFound(same);
    if (before.session === 'lost' && same) void refresh();
    else begin();
    return null;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.status === 401) return 'This token is not accepted.';
    if (failure.status === 429) return 'Too many attempts. Try again in ten minutes.';
    return failure.message;
  }
}

const clean = () =>
  ({
    filters: NO_FILTERS,
    items: [],
    nextCursor: null,
    listFault: null,
    focusId: null,
    open: false,
    selected: new Set<string>(),
    leases: new Map(),
    decided: new Map(),
    done: [],
    marks: new Map(),
    details: new Map(),
    drafts: new Map(),
    panel: null,
    batch: null,
    toast: null,
    counts: null,
  }) satisfies Partial<ReturnType<typeof store.get>>;

/** Signs out; the service releases the leases, and the state is reset so that no data remains. */
export async function signOut(): Promise<void> {
  try {
    await call('DELETE', 'session');
  } catch (error) {
    if (failureOf(error).status !== 401) {
      toast('Not signed out: the service cannot be reached.', { tone: 'alert' });
      return;
    }
  }
  set({ ...clean(), me: null, session: 'out' });
}
