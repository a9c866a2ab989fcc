import { hasVisibleText } from '../../platform/visible-text.ts';
import { claimThis } from './claims.ts';
import { type Decisive, decide } from './decisions.ts';
import { leaseOn, leavePanel, release } from './leases.ts';
import { focusOn, nextAfter } from './queue.ts';
import { changePanel, current, draftOf, get, itemOf, listView, mark, set, toast } from './state.ts';
import { waits, whyNot } from './why-not.ts';
import type { Action, Item } from './wire.ts';
import { aboutOf, failureWords } from './words.ts';

/** Actions that open a panel for a message or a choice before they are sent. */
const WITH_PANEL: readonly Action[] = ['reject', 'remove', 'escalate', 'defer', 'uphold'];

/** Actions of the keys `a` (keep or publish the item) and `r` (reject or remove it). */
export const YES: readonly Action[] = ['approve', 'grant', 'keep', 'restore'];
export const NO: readonly Action[] = ['reject', 'uphold', 'remove'];

export const firstAllowed = (item: Item, actions: readonly Action[]): Action | undefined =>
  actions.find((action) => item.allowed_actions.includes(action));

/**
 * Starts the first allowed of these actions on the current item, directly or through its panel. If
 * none is allowed, says why, and moves to the next item if this one needs no decision.
 */
export function begin(actions: readonly Action[]): void {
  const item = current();
  if (!item || get().marks.get(item.id)?.kind === 'deciding') return;
  const action = firstAllowed(item, actions);
  if (!action) {
    toast(whyNot(item, actions, get().me), { about: aboutOf(item) });
    if (listView() !== 'decided' && !waits(item)) focusOn(nextAfter(item.id));
    return;
  }
  if (WITH_PANEL.includes(action)) void openPanel(item, action);
  else void decide(item, action);
}

async function openPanel(item: Item, action: Action): Promise<void> {
  const held = leaseOn(item.id) !== undefined;
  const { panel: before } = get();
  // If the item's previous panel claimed it, this panel releases the claim when it closes.
  const claimedHere = !held || (before?.itemId === item.id && before.claimedHere);
  set({ open: true, panel: { action, itemId: item.id, claimedHere, sending: false, fault: null } });
  if (held) return;
  // Claim the item for its panel, so that two moderators do not write about the same item.
  const failure = await claimThis(item.id);
  if (!failure || failure.reason === 'claim_limit') {
    if (failure) changePanel(item.id, { claimedHere: false });
    else if (get().panel?.itemId !== item.id && !get().marks.has(item.id)) void release(item.id);
    return;
  }
  changePanel(item.id, { claimedHere: false });
  // If a decision was sent meanwhile, its refusal reports the same reason.
  if (failure.status === 409 && get().marks.get(item.id)?.kind !== 'deciding') {
    mark(item.id, { kind: 'conflict', text: failureWords(failure) });
    toast(failureWords(failure), { tone: 'alert' });
  }
}

export function closePanel(): void {
  const { panel } = get();
  if (!panel) return;
  leavePanel();
  focusOn(panel.itemId);
}

/** Sends the decision of the open panel. With a message, the panel stays open for the answer. */
export function finish(said: Decisive): void {
  const { panel } = get();
  const item = itemOf(panel?.itemId ?? null);
  if (!panel || !item || panel.sending) return;
  const message = draftOf(item.id, panel.action).trim();
  void decide(item, panel.action, { ...said, ...(hasVisibleText(message) ? { message } : {}) });
}
