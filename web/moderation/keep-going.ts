import { claimNext, hasClaimable } from './claims.ts';
import { findLease, release } from './leases.ts';
import { focusOn, nextAfter } from './queue.ts';
import { currentItem, currentList, get, hasDraft } from './state.ts';

/** The claim that is being made; keys wait for it, so that none decides on an unclaimed item. */
let claiming: Promise<void> | undefined;

/** The item that was claimed last without being asked for. */
let claimedLast: string | null = null;

/** Whether decisions go on to an item that is claimed: moderators who work at once never meet. */
export const keepsGoing = (): boolean => {
  const { keepGoing, me } = get();
  return keepGoing && me?.role !== 'auditor' && hasClaimable(currentList());
};

/** After a decision: claims the next free item of the list, and makes it the current one. */
export function goOn(decidedId: string | null): void {
  const next = claimAndShow(decidedId).finally(() => {
    if (claiming === next) claiming = undefined;
  });
  claiming = next;
}

async function claimAndShow(decidedId: string | null): Promise<void> {
  const before = claimedLast;
  if (before && before !== decidedId && findLease(before) && !hasDraft(before))
    await release(before);
  const shown = get().focusId;
  await claimNext({ quiet: true });
  const { focusId } = get();
  // With filters, the first free row is claimed; without a free item, nothing is.
  const claimed = focusId !== null && focusId !== shown && findLease(focusId) !== undefined;
  claimedLast = claimed ? focusId : null;
  if (!claimed && !currentItem() && decidedId) focusOn(nextAfter(decidedId));
}

/** Runs an action, after the claim that is being made. Returns whether it waits. */
export function waitsForClaim(act: () => void): boolean {
  if (!claiming) return false;
  void claiming.then(act);
  return true;
}
