import { call, type Failure, failureOf } from './api.ts';
import { isOutdated, notDecidedHere } from './decided-here.ts';
import { hold, isGivenBack } from './leases.ts';
import { named, subjectOf } from './names.ts';
import { focusOn } from './queue.ts';
import { ask, reread, show } from './reread.ts';
import { get, itemOf, listView, mark, set, toast } from './state.ts';
import { claimSent, decisionsAnswered } from './under-way.ts';
import type { Item, Lease } from './wire.ts';
import { failureWords } from './words.ts';

type Claimed = Lease & { item: Item };

/** Claims the next free item of the view and opens it. */
export async function claimNext(): Promise<void> {
  // Otherwise the service could return an item whose decision is still in flight.
  await decisionsAnswered();
  const view = listView();
  const from = view === 'mine' || view === 'deferred' || view === 'decided' ? 'todo' : view;
  try {
    const { claims } = await call<{ claims: Claimed[] }>('POST', 'claims', {
      count: 1,
      view: from,
    });
    const [claimed] = claims;
    if (!claimed) {
      toast('Nothing left to claim.');
      return;
    }
    const item = named(claimed.item);
    const { id } = item;
    // The stream may have shown the item before this answer, and it may have been decided on since.
    if (isOutdated(item)) await decisionsAnswered();
    if (isOutdated(item)) return;
    notDecidedHere(id);
    insert(claimed);
    focusOn(id);
    set({ open: true });
  } catch (error) {
    toast(failureWords(failureOf(error)), { tone: 'alert' });
  }
}

/** Shows the claimed item in its row, or in a new row after the current one. */
function insert(claimed: Claimed): void {
  const { items, focusId } = get();
  const item = named(claimed.item);
  const place = items.findIndex(({ id }) => id === focusId) + 1;
  if (!itemOf(item.id)) set({ items: items.toSpliced(place, 0, item) });
  take(claimed);
}

function take({ item: given, ...lease }: Claimed): void {
  // The stream may have reported the claim before this answer, and it may be released already.
  if (isGivenBack(lease)) return;
  const item = named(given);
  show(item, ask());
  // A decision made meanwhile waits for this answer and is then sent, so keep its mark.
  if (get().marks.get(item.id)?.kind !== 'deciding') mark(item.id, undefined);
  hold(lease, 'here');
}

/** Claims one item. Resolves to null, or to the failure. */
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

/** Claims at the moderator's request and shows a failure. The focus moves only before the call. */
export async function claimOpenly(itemId: string): Promise<void> {
  focusOn(itemId);
  const failure = await claimThis(itemId);
  if (failure) toast(failureWords(failure), { tone: 'alert' });
}
