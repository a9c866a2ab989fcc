import { call, callAndLeave } from './api.ts';
import { wasDecidedHere } from './decided-here.ts';
import { nameOf } from './names.ts';
import { ask, reread } from './reread.ts';
import { get, type HeldLease, set, withEntry } from './state.ts';
import type { Lease, Subject } from './wire.ts';

const RENEW_MS = 60_000;

/** Ids of leases released here; delayed stream messages and answers must not restore them. */
const givenBack = new Set<string>();

export const isGivenBack = ({ lease_id }: Pick<Lease, 'lease_id'>): boolean =>
  givenBack.has(lease_id);

/** Stores a lease. This tab releases leases claimed `here`, not those claimed `elsewhere`. */
export function hold(
  { lease_id, subject, expires_at }: Lease,
  claimed: 'here' | 'elsewhere',
): void {
  const name = nameOf(subject);
  const known = get().leases.get(name);
  const here = claimed === 'here' || (known?.lease_id === lease_id && known.here);
  // A lost lease stays lost: the answer to its claim can arrive after the news of the loss.
  const lost = known?.lease_id === lease_id && known.lost;
  const lease = { lease_id, subject, expires_at, here, since: ask(), lost };
  set({ leases: withEntry(get().leases, name, lease) });
}

export function drop(itemId: string): void {
  set({ leases: withEntry(get().leases, itemId, undefined) });
}

/** The moderator's lease on an item, unless it is lost. */
export const leaseOn = (itemId: string): HeldLease | undefined => {
  const lease = get().leases.get(itemId);
  return lease && !lease.lost ? lease : undefined;
};

/** Releases the lease on an item. A failed request is ignored; the lease then expires. */
export async function release(itemId: string): Promise<void> {
  const lease = get().leases.get(itemId);
  if (!lease) return;
  givenBack.add(lease.lease_id);
  drop(itemId);
  if (lease.lost) return;
  await call('POST', 'claims/release', { lease_ids: [lease.lease_id] }).catch(() => undefined);
}

/** Closes the panel and releases the claim that it made, unless its decision is in flight. */
export function leavePanel(): void {
  const { panel } = get();
  set({ panel: null });
  if (panel?.claimedHere && !panel.sending) void release(panel.itemId);
}

function lose(itemId: string, leaseId: string): void {
  const lease = get().leases.get(itemId);
  if (lease?.lease_id !== leaseId || get().marks.get(itemId)?.kind === 'deciding') return;
  set({ leases: withEntry(get().leases, itemId, { ...lease, lost: true }) });
  void reread(itemId);
}

export async function renew(): Promise<void> {
  const held = [...get().leases.values()].filter(({ lost }) => !lost);
  if (held.length === 0 || document.visibilityState !== 'visible' || get().session !== 'in') return;
  const lease_ids = held.map(({ lease_id }) => lease_id);
  try {
    const { lost } = await call<{ lost: string[] }>('POST', 'claims/renew', { lease_ids });
    for (const { subject, lease_id } of held)
      if (lost.includes(lease_id)) lose(nameOf(subject), lease_id);
  } catch {
    // The next renewal, a minute later, tries again and reports leases lost in between.
  }
}

interface ClaimNews {
  complete: boolean;
  claims: (Lease & { moderator_id: string })[];
  released_subjects: Subject[];
}

/**
 * Handles claim news of the stream, which includes the moderator's claims in other tabs. The news
 * can be older than the local state, so the item is read again to see whether a claim is lost.
 */
export function heardOfClaims({ complete, claims, released_subjects }: ClaimNews): void {
  const { me } = get();
  const held = new Map(claims.map((claim) => [nameOf(claim.subject), claim]));
  const gone = new Set(released_subjects.map(nameOf));
  const isMine = ({ moderator_id }: { moderator_id: string }) => moderator_id === me?.id;
  // A decision here has ended the claim, even if the news of the claim arrives later.
  for (const [name, claim] of held)
    if (isMine(claim) && !wasDecidedHere(name) && !isGivenBack(claim)) hold(claim, 'elsewhere');
  const doubted = new Set<string>();
  for (const [name, { lost }] of get().leases) {
    const now = held.get(name);
    if (!lost && (now ? !isMine(now) : gone.has(name) || complete)) doubted.add(name);
  }
  for (const { id, claim } of get().items) {
    const now = held.get(id);
    const news = now
      ? !isMine(now) && now.lease_id !== claim?.lease_id
      : gone.has(id) || (complete && claim !== null);
    // Read the item again: the stream carries neither the holder's name nor the allowed actions.
    if (news) doubted.add(id);
  }
  for (const id of doubted) void reread(id);
}

/** Renews leases every minute while the tab is visible; releases its claims on page hide. */
export function keepLeases(): void {
  setInterval(() => void renew(), RENEW_MS);
  document.addEventListener('visibilitychange', () => void renew());
  addEventListener('pagehide', () => {
    const claimed = [...get().leases.values()].filter(({ here }) => here);
    const lease_ids = claimed.map(({ lease_id }) => lease_id);
    if (lease_ids.length > 0) callAndLeave('claims/release', { lease_ids });
  });
}
