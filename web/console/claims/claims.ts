import { isReleased, leaseState, releasesSettled, storeLease } from '../in-progress/leases.ts';
import {
  decisionsSettled,
  forgetDecision,
  isDeciding,
  isOutdated,
  sentState,
  setMark,
  trackClaim,
} from '../in-progress/sent.ts';
import { focusOn } from '../queue/queue.ts';
import {
  currentList,
  insertAfterCurrent,
  placeState,
  queueState,
  setOpen,
} from '../queue/queue-state.ts';
import { refreshItem, showItem } from '../queue/read-item.ts';
import { announce, showToast } from '../session/messages.ts';
import { call, nextRequest } from '../session/moderation-api.ts';
import { type Item, type Lease, type ListView, toSubject, withItemId } from '../words/api-model.ts';
import { type Failure, failureText, toFailure } from '../words/failure.ts';

type ClaimedItem = Lease & { item: Item };

/** Whether the items of a view wait for a moderator who claims them. */
export const hasClaimable = (view: ListView): boolean =>
  view !== 'mine' && view !== 'deferred' && view !== 'decided';

/**
 * Claims the next free item of the view, or the first one that its filters show, and opens it. Without
 * one, says so; `quiet` keeps the toast of a decision and its undo.
 */
export async function claimNext({ quiet = false } = {}): Promise<void> {
  const view = currentList();
  if (!hasClaimable(view)) return;
  // Otherwise the service could return an item whose decision is still in flight.
  await decisionsSettled();
  await releasesSettled();
  if (Object.values(placeState().filters).some(Boolean)) return claimFirstShown(quiet);
  try {
    const { claims } = await call<{ claims: ClaimedItem[] }>('POST', 'claims', { count: 1, view });
    const [claimed] = claims;
    if (!claimed) {
      (quiet ? announce : showToast)(nothingFree());
      return;
    }
    const item = withItemId(claimed.item);
    const { id } = item;
    // The stream may have shown the item before this answer, and it may have been decided on since.
    if (isOutdated(item)) await decisionsSettled();
    if (isOutdated(item)) return;
    forgetDecision(id);
    insertClaimed(claimed);
    focusOn(id);
    setOpen(true);
  } catch (error) {
    showToast(failureText(toFailure(error)), { tone: 'alert' });
  }
}

async function claimFirstShown(quiet: boolean): Promise<void> {
  const { items, gone } = queueState();
  const { marks } = sentState();
  const { leases } = leaseState();
  const free = items.find(
    ({ id, claim, allowed_actions: actions }) =>
      claim === null && actions.length > 0 && ![gone, marks, leases].some((known) => known.has(id)),
  );
  if (!free) {
    (quiet ? announce : showToast)(nothingFree());
    return;
  }
  setOpen(true);
  await claimWithToast(free.id);
}

/** Says that nothing can be claimed, and how many of the shown items other moderators hold. */
function nothingFree(): string {
  const held = queueState().items.filter(({ claim }) => claim !== null && !claim.mine).length;
  const others = held === 0 ? '' : `; ${held} ${held === 1 ? 'is' : 'are'} with other moderators`;
  return `No free item in this list${others}.`;
}

/** Shows the claimed item in its row, or in a new row after the current one. */
function insertClaimed(claimed: ClaimedItem): void {
  insertAfterCurrent(withItemId(claimed.item));
  applyClaim(claimed);
}

function applyClaim({ item: withSubject, ...lease }: ClaimedItem): void {
  // The stream may have reported the claim before this answer, and it may be released already.
  if (isReleased(lease)) return;
  const item = withItemId(withSubject);
  showItem(item, nextRequest());
  // A decision made meanwhile waits for this answer and is then sent, so keep its mark.
  if (!isDeciding(item.id)) setMark(item.id, undefined);
  storeLease(lease, 'here');
}

/** Claims one item; a lead can take it over. Resolves to null, or to the failure. */
export function claimItem(itemId: string, takeOver = false): Promise<Failure | null> {
  const answer = sendClaim(itemId, takeOver);
  trackClaim(itemId, answer);
  return answer;
}

async function sendClaim(itemId: string, takeOver: boolean): Promise<Failure | null> {
  await releasesSettled();
  try {
    const { claims } = await call<{ claims: ClaimedItem[] }>('POST', 'claims', {
      subjects: [toSubject(itemId)],
      ...(takeOver ? { take_over: true } : {}),
    });
    for (const claimed of claims) applyClaim(claimed);
    return null;
  } catch (error) {
    const failure = toFailure(error);
    if (failure.status === 409 && failure.reason !== 'claim_limit') void refreshItem(itemId);
    return failure;
  }
}

/** Claims at the moderator's request and shows a failure. The focus moves only before the call. */
export async function claimWithToast(itemId: string, takeOver = false): Promise<void> {
  focusOn(itemId);
  const failure = await claimItem(itemId, takeOver);
  if (failure) showToast(failureText(failure), { tone: 'alert' });
}
