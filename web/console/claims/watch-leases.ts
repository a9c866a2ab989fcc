import { isReleased, leaseState, loseLease, storeLease } from '../in-progress/leases.ts';
import { isDecidedHere } from '../in-progress/sent.ts';
import { shownItems } from '../queue/queue-state.ts';
import { refreshItem } from '../queue/read-item.ts';
import { connectionState } from '../session/connection.ts';
import { call, sendOnLeave } from '../session/moderation-api.ts';
import { type Lease, type Subject, toItemId } from '../words/api-model.ts';

const RENEW_MS = 60_000;

async function renew(): Promise<void> {
  const claimed = [...leaseState().leases.values()].filter(({ lost }) => !lost);
  const idle = document.visibilityState !== 'visible' || connectionState().session !== 'in';
  if (claimed.length === 0 || idle) return;
  const lease_ids = claimed.map(({ lease_id }) => lease_id);
  try {
    const { lost } = await call<{ lost: string[] }>('POST', 'claims/renew', { lease_ids });
    for (const { subject, lease_id } of claimed)
      if (lost.includes(lease_id) && loseLease(toItemId(subject), lease_id))
        void refreshItem(toItemId(subject));
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
  const { me } = connectionState();
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
  for (const [name, { lost }] of leaseState().leases) {
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

/** Renews leases every minute while the tab is visible; releases its claims on page hide. */
export function startRenewals(): void {
  setInterval(() => void renew(), RENEW_MS);
  document.addEventListener('visibilitychange', () => void renew());
  addEventListener('pagehide', () => {
    const claimed = [...leaseState().leases.values()].filter(({ here }) => here);
    const lease_ids = claimed.map(({ lease_id }) => lease_id);
    if (lease_ids.length > 0) sendOnLeave('claims/release', { lease_ids });
  });
}
