import { call, callAndLeave, type Failure, failureOf } from './api.ts';
import { notDecidedHere, wasDecidedHere } from './decided-here.ts';
import { named, nameOf, subjectOf } from './names.ts';
import { focusOn } from './queue.ts';
import { ask, change, reread, show } from './reread.ts';
import { get, type HeldLease, itemOf, listView, mark, set, toast, withEntry } from './state.ts';
import { claimSent, decisionsAnswered } from './under-way.ts';
import type { Item, Lease, Subject } from './wire.ts';
import { failureWords } from './words.ts';

const RENEW_MS = 60_000;

type Claimed = Lease & { item: Item };

function hold({ lease_id, subject, expires_at }: Lease): void {
  const lease = { lease_id, subject, expires_at, lost: false };
  set({ leases: withEntry(get().leases, nameOf(subject), lease) });
}

export function drop(itemId: string): void {
  set({ leases: withEntry(get().leases, itemId, undefined) });
}

export const leaseOn = (itemId: string): HeldLease | undefined => {
  const lease = get().leases.get(itemId);
  return lease && !lease.lost ? lease : undefined;
};

/** The next free note of the view, for oneself. */
export async function claimNext(): Promise<void> {
  // The service would give back what is about to be decided.
  await decisionsAnswered();
  const view = listView();
  const from = view === 'mine' || view === 'decided' ? 'todo' : view;
  try {
    const { claims } = await call<{ claims: Claimed[] }>('POST', 'claims', {
      count: 1,
      view: from,
    });
    const [claimed] = claims;
    if (!claimed) {
      toast('Nothing is free to claim: the queue is clear, or others hold the rest.');
      return;
    }
    const { id } = named(claimed.item);
    notDecidedHere(id);
    insert(claimed);
    focusOn(id);
    set({ open: true });
  } catch (error) {
    toast(failureWords(failureOf(error)), { tone: 'alert' });
  }
}

/** Shows what was claimed where it stands in the list, or after the present row. */
function insert(claimed: Claimed): void {
  const { items, focusId } = get();
  const item = named(claimed.item);
  const place = items.findIndex(({ id }) => id === focusId) + 1;
  if (!itemOf(item.id)) set({ items: items.toSpliced(place, 0, item) });
  take(claimed);
}

function take({ item: given, ...lease }: Claimed): void {
  const item = named(given);
  show(item, ask());
  // What is decided meanwhile waits for this answer, and goes on.
  if (get().marks.get(item.id)?.kind !== 'deciding') mark(item.id, undefined);
  hold(lease);
}

/** A certain one; answers why not. */
export function claimThis(itemId: string): Promise<Failure | null> {
  const answer = claimOne(itemId);
  claimSent(itemId, answer);
  return answer;
}

async function claimOne(itemId: string): Promise<Failure | null> {
  try {
    const { claims } = await call<{ claims: Claimed[] }>('POST', 'claims', {
      subjects: [subjectOf(itemId)],
    });
    for (const claimed of claims) take(claimed);
    return null;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.status === 409 && failure.reason !== 'claim_limit') void reread(itemId);
    return failure;
  }
}

/** By hand: what stands in the way is said. */
export async function claimOpenly(itemId: string): Promise<void> {
  const failure = await claimThis(itemId);
  if (failure) toast(failureWords(failure), { tone: 'alert' });
  else focusOn(itemId);
}

export async function release(itemId: string): Promise<void> {
  const lease = get().leases.get(itemId);
  if (!lease) return;
  drop(itemId);
  change(itemId, { claim: null });
  if (lease.lost) return;
  await call('POST', 'claims/release', { lease_ids: [lease.lease_id] }).catch(() => undefined);
}

function lose(itemId: string): void {
  const lease = get().leases.get(itemId);
  if (!lease || lease.lost || get().marks.get(itemId)?.kind === 'deciding') return;
  set({ leases: withEntry(get().leases, itemId, { ...lease, lost: true }) });
  void reread(itemId);
}

export async function renew(): Promise<void> {
  const held = [...get().leases.values()].filter(({ lost }) => !lost);
  if (held.length === 0 || document.visibilityState !== 'visible' || get().session !== 'in') return;
  const lease_ids = held.map(({ lease_id }) => lease_id);
  try {
    const { lost } = await call<{ lost: string[] }>('POST', 'claims/renew', { lease_ids });
    for (const { subject, lease_id } of held) if (lost.includes(lease_id)) lose(nameOf(subject));
  } catch {
    // The next minute tries again; what was lost meanwhile is told then.
  }
}

interface ClaimNews {
  complete: boolean;
  claims: (Lease & { moderator_id: string })[];
  released_subjects: Subject[];
}

/** What the stream tells of claims, one's own of another tab among them. */
export function heardOfClaims({ complete, claims, released_subjects }: ClaimNews): void {
  const { me } = get();
  const held = new Map(claims.map((claim) => [nameOf(claim.subject), claim]));
  const gone = new Set(released_subjects.map(nameOf));
  for (const [name, claim] of held) {
    if (claim.moderator_id !== me?.id) lose(name);
    // The decision ended the claim, whichever of the two is told first.
    else if (!wasDecidedHere(name)) hold(claim);
  }
  for (const name of gone) lose(name);
  if (complete) for (const name of get().leases.keys()) if (!held.has(name)) lose(name);
  for (const { id, claim } of get().items) {
    const now = held.get(id);
    const news = now
      ? now.moderator_id !== me?.id && now.lease_id !== claim?.lease_id
      : gone.has(id) || (complete && claim !== null);
    // The stream gives no names; what may be done about it now is for the service to say, too.
    if (news) void reread(id);
  }
}

/** Renews while the tab is seen, and gives everything back when the page goes. */
export function keepLeases(): void {
  setInterval(() => void renew(), RENEW_MS);
  document.addEventListener('visibilitychange', () => void renew());
  addEventListener('pagehide', () => {
    const lease_ids = [...get().leases.values()].map(({ lease_id }) => lease_id);
    if (lease_ids.length > 0) callAndLeave('claims/release', { lease_ids });
  });
}
