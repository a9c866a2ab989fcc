import { hasVisibleText } from '../../../platform/visible-text.ts';
import { randomUuid } from '../../shared/random.ts';
import { serviceNow } from '../../shared/time.tsx';
import { claimItem } from '../claims/claims.ts';
import { goOn, keepsGoing, waitsForClaim } from '../claims/keep-going.ts';
import { deleteLease, findLease, release } from '../in-progress/leases.ts';
import {
  changePanel,
  deleteDrafts,
  getDraft,
  leavePanel,
  panelState,
  removePanel,
  showPanel,
} from '../in-progress/panel-state.ts';
import {
  claimSettled,
  forgetDecision,
  isDeciding,
  recordDecision,
  sentState,
  setMark,
  trackDecision,
} from '../in-progress/sent.ts';
import { countState } from '../queue/counts.ts';
import { focusOn, nextAfter, removeDecided } from '../queue/queue.ts';
import { currentItem, currentList, findItem, placeState, setOpen } from '../queue/queue-state.ts';
import { refreshItem } from '../queue/read-item.ts';
import { connectionState } from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import { type Action, type Decided, type Item, isNote, toPath } from '../words/api-model.ts';
import { type Failure, failureText, refusalText, toFailure } from '../words/failure.ts';
import { decisionText, toQuote } from '../words/labels.ts';
import { needsDecision, whyNotAllowed } from '../words/not-allowed.ts';
import { policyTitle } from './policy-list.tsx';
import { addOwnDecision, countDecided } from './undo.ts';

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

/** The choices that complete an action: policy, message, end of a deferral. */
export type DecisionInput = { policy?: string; message?: string; until?: string };

/** Sends a decision and shows its result. The promise does not reject for an API failure. */
export function decide(item: Item, action: Action, input: DecisionInput = {}): Promise<void> {
  return trackDecision(() => send(item, action, input));
}

async function send(item: Item, action: Action, input: DecisionInput): Promise<void> {
  const { id, version } = item;
  const about = toQuote(item);
  const hasMessage = input.message !== undefined;
  const counted = countState().counts;
  setMark(id, { kind: 'deciding', action });
  recordDecision(item);
  if (hasMessage) changePanel(id, { sending: true, fault: null });
  else focusNext(id);
  // A claim answered after the decision would bring the item back, or be refused.
  await claimSettled(id);
  try {
    const answer = await call<Decided & { tier?: string }>('POST', `${toPath(id)}/decisions`, {
      action,
      expected_version: version,
      ...input,
    });
    if (hasMessage) focusNext(id);
    setMark(id, undefined);
    countDecided([item], action, counted);
    deleteLease(id);
    // Keep the drafts of a deferred item for its later decision.
    if (action !== 'defer') deleteDrafts(id);
    removeDecided(id);
    // The service escalates a note at its fourth deferral.
    const escalated = action === 'defer' && answer.tier === 'lead' && !isEscalated(item);
    const words = escalated
      ? 'Escalated: deferred four times'
      : decisionText(action, input.policy && policyTitle(input.policy));
    const { event_id: eventId, version: after, undo_until: undoUntil } = answer;
    const undo =
      undoUntil === null
        ? null
        : { kind: 'item' as const, itemId: id, eventId, version: after, about, key: randomUuid() };
    addOwnDecision(undo ?? { kind: 'final', words, about });
    showToast(words, { about, undo });
  } catch (error) {
    forgetDecision(id);
    showRefusal(item, action, toFailure(error));
  }
}

const isEscalated = (item: Item): boolean => isNote(item) && item.tier === 'lead';

/** Moves the focus to the next item. Only decisions with a message wait for the answer first. */
function focusNext(id: string): void {
  removePanel(id);
  if (placeState().focusId !== id) return;
  if (keepsGoing()) goOn(id);
  else focusOn(nextAfter(id));
}

/** Shows the reason in the row and in the panel, which keeps the typed text. */
function showRefusal(item: Item, action: Action, failure: Failure): void {
  const { id } = item;
  const text = refusalText(`Not ${decisionText(action).toLowerCase()}`, 'decision', failure);
  setMark(id, { kind: 'conflict', text });
  changePanel(id, { sending: false, fault: text });
  showToast(text, { tone: 'alert', about: toQuote(item) });
  if (failure.status === 409) void refreshItem(id);
}
