import { hasVisibleText } from '../../../platform/visible-text.ts';
import { serviceNow } from '../../shared/clock.ts';
import { claimItem } from '../claims/claims.ts';
import { waitsForClaim } from '../claims/keep-going.ts';
import { currentList, setOpen } from '../queue/place.ts';
import { focusOn, nextAfter } from '../queue/queue.ts';
import { currentItem, findItem } from '../queue/queue-state.ts';
import { connectionState } from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import type { Action, Item } from '../words/api-model.ts';
import { failureText } from '../words/failure.ts';
import { toQuote } from '../words/labels.ts';
import { needsDecision, whyNotAllowed } from '../words/not-allowed.ts';
import { findLease, release } from '../work/leases.ts';
import { changePanel, getDraft, leavePanel, panelState, showPanel } from '../work/panel-state.ts';
import { isDeciding, sentState, setMark } from '../work/sent.ts';
import { type DecisionInput, decide } from './decisions.ts';

/** Actions that open a panel for a message or a choice before they are sent. */
const PANEL_ACTIONS: readonly Action[] = ['reject', 'remove', 'escalate', 'defer', 'uphold'];

/** Actions of the keys `a` (keep or publish the item) and `r` (reject or remove it). */
export const PUBLISHING_ACTIONS: readonly Action[] = ['approve', 'grant', 'keep', 'restore'];
export const REMOVING_ACTIONS: readonly Action[] = ['reject', 'uphold', 'remove'];

export const firstAllowed = (item: Item, actions: readonly Action[]): Action | undefined =>
  actions.find((action) => item.allowed_actions.includes(action));

/**
 * Starts the first allowed of these actions on the current item, directly or through its panel. If
 * none is allowed, says why, and moves to the next item if this one needs no decision.
 */
export function startAction(actions: readonly Action[]): void {
  if (waitsForClaim(() => startAction(actions))) return;
  const item = currentItem();
  if (!item || isDeciding(item.id)) return;
  const action = firstAllowed(item, actions);
  if (!action) {
    showToast(whyNotAllowed(item, actions, connectionState().me), { about: toQuote(item) });
    if (currentList() !== 'decided' && !needsDecision(item)) focusOn(nextAfter(item.id));
    return;
  }
  if (PANEL_ACTIONS.includes(action)) void openPanel(item, action);
  else void decide(item, action);
}

async function openPanel(item: Item, action: Action): Promise<void> {
  const claimed = findLease(item.id) !== undefined;
  const { panel: before } = panelState();
  // If the item's previous panel claimed it, this panel releases the claim when it closes.
  const claimedHere = !claimed || (before?.itemId === item.id && before.claimedHere);
  setOpen(true);
  showPanel({
    action,
    itemId: item.id,
    claimedHere,
    prepared: false,
    sending: false,
    fault: null,
  });
  if (claimed) return;
  // Claim the item for its panel, so that two moderators do not write about the same item.
  const failure = await claimItem(item.id);
  if (!failure || failure.reason === 'claim_limit') {
    if (failure) changePanel(item.id, { claimedHere: false });
    else if (panelState().panel?.itemId !== item.id && !sentState().marks.has(item.id))
      void release(item.id);
    return;
  }
  changePanel(item.id, { claimedHere: false });
  // If a decision was sent meanwhile, its refusal reports the same reason.
  if (failure.status === 409 && !isDeciding(item.id)) {
    setMark(item.id, { kind: 'conflict', text: failureText(failure) });
    showToast(failureText(failure), { tone: 'alert' });
  }
}

export function closePanel(): void {
  const { panel } = panelState();
  if (!panel) return;
  leavePanel();
  focusOn(panel.itemId);
}

/** Sends the decision of the open panel. With a message, the panel stays open for the answer. */
export function submitPanel(input: DecisionInput): void {
  const { panel } = panelState();
  const item = findItem(panel?.itemId ?? null);
  if (!panel || !item || panel.sending) return;
  const message = getDraft(item.id, panel.action).trim();
  void decide(item, panel.action, { ...input, ...(hasVisibleText(message) ? { message } : {}) });
}

export const DEFERRALS = [
  [1, '1 hour'],
  [4, '4 hours'],
  [24, '1 day'],
  [72, '3 days'],
] as const;

export const hoursFromNow = (hours: number): string =>
  // One minute less, to stay within the maximum of 72 hours if the clocks differ by seconds.
  new Date(serviceNow() + hours * 3_600_000 - 60_000).toISOString();
