import { findLease, release } from '../in-progress/leases.ts';
import { hasDraft, panelState } from '../in-progress/panel-state.ts';
import { focusOn, nextAfter } from '../queue/queue.ts';
import { currentItem, currentList, placeState } from '../queue/queue-state.ts';
import { connectionState } from '../session/connection.ts';
import { announce } from '../session/messages.ts';
import { settingsState } from '../session/settings.ts';
import { createState } from '../session/store.ts';
import { needsDecision } from '../words/not-allowed.ts';
import { claimItem, claimNext, hasClaimable } from './claims.ts';

/** The claim that is being made; keys wait for it, so that none decides on an unclaimed item. */
let claiming: Promise<void> | undefined;

/** The item that was claimed last without being asked for. */
let claimedLast: string | null = null;

export const colleagueState = createState({
  /** How many other moderators are at work. */
  session: { colleagues: 0 },
});

/** Whether a decision claims the next free item: as the moderator chose, otherwise if colleagues are at work. */
export const wantsToKeepGoing = (): boolean =>
  settingsState().keepGoing ?? colleagueState().colleagues > 0;

/** Whether decisions go on to an item that is claimed: moderators who work at once never meet. */
export const keepsGoing = (): boolean =>
  wantsToKeepGoing() && connectionState().me?.role !== 'auditor' && hasClaimable(currentList());

/** Whether the current item was claimed, or need not be, since colleagues are at work. */
let begun = false;

/** After a decision: claims the next free item of the list, and makes it the current one. */
export const goOn = (decidedId: string | null): void => keysWaitFor(claimAndShow(decidedId));

function keysWaitFor(claim: Promise<void>): void {
  const next = claim.finally(() => {
    if (claiming === next) claiming = undefined;
  });
  claiming = next;
}

/**
 * Notes how many colleagues are at work. Once one is, claims the item that the moderator is looking at, so that
 * the two do not decide on it at the same time, unless the moderator has chosen whether to keep going.
 */
export function setColleagues(colleagues: number): void {
  const { colleagues: before } = colleagueState();
  colleagueState.set({ colleagues });
  const chosen = settingsState().keepGoing !== null;
  if (chosen || connectionState().me?.role === 'auditor' || colleagues === 0) {
    begun = false;
    return;
  }
  if (before === 0) {
    begun = false;
    announce('A colleague is at work, so each decision claims the next free item.');
  }
  const item = currentItem();
  if (begun || !item || !keepsGoing() || document.visibilityState !== 'visible') return;
  begun = true;
  if (needsDecision(item) && !panelState().panel && !findLease(item.id))
    keysWaitFor(claimShown(item.id));
}

/** Claims an item, or the next free one if a colleague was faster. */
async function claimShown(id: string): Promise<void> {
  if (await claimItem(id)) return claimAndShow(null);
  claimedLast = id;
}

async function claimAndShow(decidedId: string | null): Promise<void> {
  const before = claimedLast;
  if (before && before !== decidedId && findLease(before) && !hasDraft(before))
    await release(before);
  const shown = placeState().focusId;
  await claimNext({ quiet: true });
  const { focusId } = placeState();
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
