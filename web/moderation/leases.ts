import { call, callAndLeave, type Failure, failureOf } from './api.ts';
import { notDecidedHere, wasDecidedHere } from './decided-here.ts';
import { focusOn, reread } from './queue.ts';
import { get, type HeldLease, listView, mark, set, toast, withEntry } from './state.ts';
import { claimSent, decisionsAnswered } from './under-way.ts';
import type { Item, Lease } from './wire.ts';
import { failureWords } from './words.ts';

const RENEW_MS = 60_000;

type Claimed = Lease & { item: Item };

function hold(lease: Lease): void {
  const { lease_id, note_id, expires_at } = lease;
  set({
    leases: withEntry(get().leases, note_id, { lease_id, note_id, expires_at, lost: false }),
  });
}

export function drop(noteId: string): void {
  set({ leases: withEntry(get().leases, noteId, undefined) });
}

export const leaseOn = (noteId: string): HeldLease | undefined => {
  const lease = get().leases.get(noteId);
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
    notDecidedHere(claimed.note_id);
    insert(claimed);
    focusOn(claimed.note_id);
    set({ open: true });
  } catch (error) {
    toast(failureWords(failureOf(error)), { tone: 'alert' });
  }
}

/** Shows what was claimed where it stands in the list, or after the present row. */
function insert(claimed: Claimed): void {
  const { items, focusId } = get();
  const place = items.findIndex(({ id }) => id === focusId) + 1;
  if (!items.some(({ id }) => id === claimed.note_id))
    set({ items: items.toSpliced(place, 0, claimed.item) });
  take(claimed);
}

function take({ item, ...lease }: Claimed): void {
  set({ items: get().items.map((one) => (one.id === item.id ? item : one)) });
  // What is decided meanwhile waits for this answer, and goes on.
  if (get().marks.get(item.id)?.kind !== 'deciding') mark(item.id, undefined);
  hold(lease);
}

/** A certain note; answers why not. */
export function claimThis(noteId: string): Promise<Failure | null> {
  const answer = claimOne(noteId);
  claimSent(noteId, answer);
  return answer;
}

async function claimOne(noteId: string): Promise<Failure | null> {
  try {
    const { claims } = await call<{ claims: Claimed[] }>('POST', 'claims', { note_ids: [noteId] });
    for (const claimed of claims) take(claimed);
    return null;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.status === 409 && failure.reason !== 'claim_limit') void reread(noteId);
    return failure;
  }
}

/** By hand: what stands in the way is said. */
export async function claimOpenly(noteId: string): Promise<void> {
  const failure = await claimThis(noteId);
  if (failure) toast(failureWords(failure), { tone: 'alert' });
  else focusOn(noteId);
}

export async function release(noteId: string): Promise<void> {
  const lease = get().leases.get(noteId);
  if (!lease) return;
  drop(noteId);
  const { items } = get();
  set({ items: items.map((one) => (one.id === noteId ? { ...one, claim: null } : one)) });
  if (lease.lost) return;
  await call('POST', 'claims/release', { lease_ids: [lease.lease_id] }).catch(() => undefined);
}

function lose(noteId: string): void {
  const lease = get().leases.get(noteId);
  if (!lease || lease.lost || get().marks.get(noteId)?.kind === 'deciding') return;
  set({ leases: withEntry(get().leases, noteId, { ...lease, lost: true }) });
  void reread(noteId);
}

export async function renew(): Promise<void> {
  const held = [...get().leases.values()].filter(({ lost }) => !lost);
  if (held.length === 0 || document.visibilityState !== 'visible' || get().session !== 'in') return;
  const lease_ids = held.map(({ lease_id }) => lease_id);
  try {
    const { lost } = await call<{ lost: string[] }>('POST', 'claims/renew', { lease_ids });
    for (const { note_id, lease_id } of held) if (lost.includes(lease_id)) lose(note_id);
  } catch {
    // The next minute tries again; what was lost meanwhile is told then.
  }
}

interface ClaimNews {
  complete: boolean;
  claims: (Lease & { moderator_id: string })[];
  released: string[];
}

/** What the stream tells of claims, one's own of another tab among them. */
export function heardOfClaims({ complete, claims, released }: ClaimNews): void {
  const { me, items } = get();
  const byNote = new Map(claims.map((claim) => [claim.note_id, claim]));
  const gone = new Set(released);
  const changed = items.some(({ id, claim }) => {
    const now = byNote.get(id);
    return now ? claim?.lease_id !== now.lease_id : claim !== null && (complete || gone.has(id));
  });
  for (const claim of claims) {
    if (claim.moderator_id !== me?.id) lose(claim.note_id);
    // The decision ended the claim, whichever of the two is told first.
    else if (!wasDecidedHere(claim.note_id)) hold(claim);
  }
  for (const noteId of released) lose(noteId);
  if (complete) for (const noteId of get().leases.keys()) if (!byNote.has(noteId)) lose(noteId);
  if (!changed) return;
  set({
    items: get().items.map((item) => {
      const now = byNote.get(item.id);
      if (now && now.moderator_id !== me?.id && item.claim?.lease_id !== now.lease_id) {
        // The stream gives no names; the note does.
        void reread(item.id);
        return item;
      }
      return !now && (complete || gone.has(item.id)) && item.claim ? freed(item) : item;
    }),
  });
}

/** Free again: what may be done about it is for the service to say. */
function freed(item: Item): Item {
  if (!item.claim?.mine) void reread(item.id);
  return { ...item, claim: null };
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
