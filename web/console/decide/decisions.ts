import { randomUuid } from '../../shared/random.ts';
import { goOn, keepsGoing } from '../claims/keep-going.ts';
import { placeState } from '../queue/place.ts';
import { focusOn, nextAfter, removeDecided } from '../queue/queue.ts';
import { refreshItem } from '../queue/read-item.ts';
import { showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import { type Action, type Decided, type Item, isNote, toPath } from '../words/api-model.ts';
import { type Failure, refusalText, toFailure } from '../words/failure.ts';
import { decisionText, toQuote } from '../words/labels.ts';
import { deleteLease } from '../work/leases.ts';
import { changePanel, deleteDrafts, removePanel } from '../work/panel-state.ts';
import {
  claimSettled,
  forgetDecision,
  recordDecision,
  setMark,
  trackDecision,
} from '../work/sent.ts';
import { addOwnDecision, countDecided } from './own-decisions.ts';
import { policyTitle } from './policy-list.tsx';

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
    countDecided([item], action);
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
