import { nextRequest, refreshItem } from '../queue/refresh.ts';
import { call, sendOnLeave } from '../session/moderation-api.ts';
import { get, type HeldLease, set, withEntry } from '../session/state.ts';
import type { Item, Lease, Subject } from '../words/api-model.ts';
import { toItemId } from '../words/item-ids.ts';
import { isDecidedHere } from './own-decisions.ts';

const RENEW_MS = 60_000;

/** Ids of leases released here; delayed stream messages and answers must not restore them. */
const released = new Set<string>();

export const isReleased = ({ lease_id }: Pick<Lease, 'lease_id'>): boolean =>
  released.has(lease_id);

/** Stores a lease. This tab releases leases claimed `here`, not those claimed `elsewhere`. */
export function storeLease(
  { lease_id, subject, expires_at }: Lease,
  claimed: 'here' | 'elsewhere',
): void {
  const name = toItemId(subject);
  const previous = get().leases.get(name);
  const here = claimed === 'here' || (previous?.lease_id === lease_id && previous.here);
  // A lost lease stays lost: the answer to its claim can arrive after the message about the loss.
  const lost = previous?.lease_id === lease_id && previous.lost;
  const lease = { lease_id, subject, expires_at, here, since: nextRequest(), lost };
  set({ leases: withEntry(get().leases, name, lease) });
}

export function deleteLease(itemId: string): void {
  set({ leases: withEntry(get().leases, itemId, undefined) });
}

/** The moderator's lease on an item, unless it is lost. */
export const findLease = (itemId: string): HeldLease | undefined => {
  const lease = get().leases.get(itemId);
  return lease && !lease.lost ? lease : undefined;
};

let releasing: Promise<unknown> = Promise.resolve();

/** Settles with the releases sent so far: a claim that overtakes one would get the lease that it ends. */
export const releasesSettled = (): Promise<unknown> => releasing;

/** Releases the lease on an item. A failed request is ignored; the lease then expires. */
export async function release(itemId: string): Promise<void> {
  const lease = get().leases.get(itemId);
  if (!lease) return;
  released.add(lease.lease_id);
  deleteLease(itemId);
  if (lease.lost) return;
  const sent = call('POST', 'claims/release', { lease_ids: [lease.lease_id] });
  releasing = Promise.allSettled([releasing, sent]);
  await sent.catch(() => undefined);
}

/** Closes the panel and releases the claim that it made, unless its decision is in flight. */
export function leavePanel(): void {
  const { panel } = get();
  set({ panel: null });
  if (panel?.claimedHere && !panel.sending) void release(panel.itemId);
}

function markLost(itemId: string, leaseId: string): void {
  const lease = get().leases.get(itemId);
  if (lease?.lease_id !== leaseId || get().marks.get(itemId)?.kind === 'deciding') return;
  set({ leases: withEntry(get().leases, itemId, { ...lease, lost: true }) });
  void refreshItem(itemId);
}

async function renew(): Promise<void> {
  const claimed = [...get().leases.values()].filter(({ lost }) => !lost);
  if (claimed.length === 0 || document.visibilityState !== 'visible' || get().session !== 'in')
    return;
  const lease_ids = claimed.map(({ lease_id }) => lease_id);
  try {
    const { lost } = await call<{ lost: string[] }>('POST', 'claims/renew', { lease_ids });
    for (const { subject, lease_id } of claimed)
      if (lost.includes(lease_id)) markLost(toItemId(subject), lease_id);
  } catch {
    // The next renewal, a minute later, tries again and reports leases lost in between.
  }
}

interface ClaimMessage {
  complete: boolean;
  claims: (Lease & { moderator_id: string })[];
  released_subjects: Subject[];
}

/** The live leases of other moderators, as the stream has reported them: lease ids by item id. */
const leasesOfOthers = new Map<string, string>();

/**
 * Handles a claim message of the stream, which includes the moderator's claims in other tabs. It can
 * be older than the local state, so the item is read again to see whether a claim is lost.
 */
export function handleClaims({ complete, claims, released_subjects }: ClaimMessage): void {
  const { me } = get();
  const claimed = new Map(claims.map((claim) => [toItemId(claim.subject), claim]));
  const releasedIds = new Set(released_subjects.map(toItemId));
  const isMine = ({ moderator_id }: { moderator_id: string }) => moderator_id === me?.id;
  if (complete) leasesOfOthers.clear();
  for (const id of releasedIds) leasesOfOthers.delete(id);
  for (const [id, claim] of claimed)
    if (isMine(claim)) leasesOfOthers.delete(id);
    else leasesOfOthers.set(id, claim.lease_id);
  // A decision here has ended the claim, even if the message about the claim arrives later.
  for (const [name, claim] of claimed)
    if (isMine(claim) && !isDecidedHere(name) && !isReleased(claim)) storeLease(claim, 'elsewhere');
  const outdated = new Set<string>();
  for (const [name, { lost }] of get().leases) {
    const now = claimed.get(name);
    if (!lost && (now ? !isMine(now) : releasedIds.has(name) || complete)) outdated.add(name);
  }
  for (const { id, claim } of shownItems()) {
    const now = claimed.get(id);
    const changed = now
      ? !isMine(now) && now.lease_id !== claim?.lease_id
      : releasedIds.has(id) || (complete && claim !== null);
    // Read the item again: the stream carries neither the holder's name nor the allowed actions.
    if (changed) outdated.add(id);
  }
  for (const id of outdated) void refreshItem(id);
}

/**
 * Reads each item again whose claim differs from what the stream has reported: a claim that ended
 * soon after it was made may be shown, although the stream never saw it.
 */
export function checkClaims(): void {
  for (const { id, claim } of shownItems()) {
    const shown = claim && !claim.mine ? claim.lease_id : undefined;
    if (shown !== leasesOfOthers.get(id)) void refreshItem(id);
  }
}

function shownItems(): readonly Item[] {
  const { items, linked } = get();
  return linked ? [...items, linked] : items;
}

/** Renews leases every minute while the tab is visible; releases its claims on page hide. */
export function startRenewals(): void {
  setInterval(() => void renew(), RENEW_MS);
  document.addEventListener('visibilitychange', () => void renew());
  addEventListener('pagehide', () => {
    const claimed = [...get().leases.values()].filter(({ here }) => here);
    const lease_ids = claimed.map(({ lease_id }) => lease_id);
    if (lease_ids.length > 0) sendOnLeave('claims/release', { lease_ids });
  });
}
