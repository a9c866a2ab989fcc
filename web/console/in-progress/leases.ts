import { call, nextRequest } from '../session/moderation-api.ts';
import { createState, withEntry } from '../session/store.ts';
import { type Item, type Lease, toItemId } from '../words/api-model.ts';
import { needsDecision } from '../words/not-allowed.ts';
import { isDeciding } from './sent.ts';

export interface HeldLease extends Lease {
  /** This tab made the claim, and releases the lease when the page closes. */
  here: boolean;
  /** Request number when the lease was stored; answers to earlier requests do not include it. */
  since: number;
  lost: boolean;
}

export const leaseState = createState({
  session: {
    /** Keyed by item id. */
    leases: new Map() as ReadonlyMap<string, HeldLease>,
  },
});

/** Ids of leases released here; delayed stream messages and answers must not restore them. */
const released = new Set<string>();

export const isReleased = ({ lease_id }: Pick<Lease, 'lease_id'>): boolean =>
  released.has(lease_id);

const setLease = (itemId: string, lease: HeldLease | undefined): void =>
  leaseState.set({ leases: withEntry(leaseState().leases, itemId, lease) });

/** Stores a lease. This tab releases leases claimed `here`, not those claimed `elsewhere`. */
export function storeLease(
  { lease_id, subject, expires_at }: Lease,
  claimed: 'here' | 'elsewhere',
): void {
  const name = toItemId(subject);
  const previous = leaseState().leases.get(name);
  const here = claimed === 'here' || (previous?.lease_id === lease_id && previous.here);
  // A lost lease stays lost: the answer to its claim can arrive after the message about the loss.
  const lost = previous?.lease_id === lease_id && previous.lost;
  setLease(name, { lease_id, subject, expires_at, here, since: nextRequest(), lost });
}

export const deleteLease = (itemId: string): void => setLease(itemId, undefined);

/** The moderator's lease on an item, unless it is lost. */
export const findLease = (itemId: string): HeldLease | undefined => {
  const lease = leaseState().leases.get(itemId);
  return lease && !lease.lost ? lease : undefined;
};

let releasing: Promise<unknown> = Promise.resolve();

/** Settles with the releases sent so far: a claim that overtakes one would get the lease that it ends. */
export const releasesSettled = (): Promise<unknown> => releasing;

/** Releases the lease on an item. A failed request is ignored; the lease then expires. */
export async function release(itemId: string): Promise<void> {
  const lease = leaseState().leases.get(itemId);
  if (!lease) return;
  released.add(lease.lease_id);
  deleteLease(itemId);
  if (lease.lost) return;
  const sent = call('POST', 'claims/release', { lease_ids: [lease.lease_id] });
  releasing = Promise.allSettled([releasing, sent]);
  await sent.catch(() => undefined);
}

/** Marks a lease as lost, unless a decision on its item is in flight. Returns whether it is. */
export function loseLease(itemId: string, leaseId: string): boolean {
  const lease = leaseState().leases.get(itemId);
  if (lease?.lease_id !== leaseId || isDeciding(itemId)) return false;
  setLease(itemId, { ...lease, lost: true });
  return true;
}

/**
 * Compares the lease with an answer about its item: drops a lease that ended with a decision, and marks
 * one that the service ended as lost. Returns whether the item has to be read again.
 */
export function checkLease(item: Item, request: number): boolean {
  const lease = leaseState().leases.get(item.id);
  if (!lease || item.claim?.mine || isDeciding(item.id)) return false;
  // The answer to the claim came during this read: the claim may be newer, or may have ended.
  if (lease.since > request) return !lease.lost;
  const isOver = item.claim === null && !needsDecision(item);
  setLease(item.id, isOver ? undefined : { ...lease, lost: true });
  return false;
}
