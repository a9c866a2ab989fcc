import { randomUuid } from '../shared/random.ts';
import { call, type Failure, failureOf } from './api.ts';
import { decidedHere, notDecidedHere } from './decided-here.ts';
import { drop } from './leases.ts';
import { pathOf } from './names.ts';
import { titleOf } from './policy-list.ts';
import { focusOn, nextAfter, settle } from './queue.ts';
import { reread } from './reread.ts';
import { changePanel, forgetDrafts, get, mark, set, toast } from './state.ts';
import { claimAnswered, decisionSent } from './under-way.ts';
import { remember } from './undo.ts';
import { type Action, type Decided, type Item, isNote } from './wire.ts';
import { aboutOf, doneWords, refusalWords } from './words.ts';

/** The choices that complete an action: policy, message, end of a deferral. */
export type Decisive = { policy?: string; message?: string; until?: string };

/** Sends a decision and shows its result. The promise does not reject for an API failure. */
export function decide(item: Item, action: Action, said: Decisive = {}): Promise<void> {
  const sent = send(item, action, said);
  decisionSent(sent);
  return sent;
}

async function send(item: Item, action: Action, said: Decisive): Promise<void> {
  const { id, version } = item;
  const about = aboutOf(item);
  const typed = said.message !== undefined;
  mark(id, { kind: 'deciding', action });
  decidedHere(item);
  if (typed) changePanel(id, { sending: true, fault: null });
  else moveOn(id);
  // A claim answered after the decision would bring the item back, or be refused.
  await claimAnswered(id);
  try {
    const answer = await call<Decided & { tier?: string }>('POST', `${pathOf(id)}/decisions`, {
      action,
      expected_version: version,
      ...said,
    });
    if (typed) moveOn(id);
    mark(id, undefined);
    drop(id);
    // Keep the drafts of a deferred item for its later decision.
    if (action !== 'defer') forgetDrafts(id);
    settle(id);
    // The service escalates a note at its fourth deferral.
    const escalated = action === 'defer' && answer.tier === 'lead' && !isLeads(item);
    const words = escalated
      ? 'Escalated: deferred four times'
      : doneWords(action, said.policy && titleOf(said.policy));
    const { event_id: eventId, version: after, undo_until: undoUntil } = answer;
    const undo =
      undoUntil === null
        ? null
        : { kind: 'item' as const, itemId: id, eventId, version: after, about, key: randomUuid() };
    remember(undo ?? { kind: 'final', words, about });
    toast(words, { about, undo });
  } catch (error) {
    notDecidedHere(id);
    refused(item, action, failureOf(error));
  }
}

const isLeads = (item: Item): boolean => isNote(item) && item.tier === 'lead';

/** Moves the focus to the next item. Only decisions with a message wait for the answer first. */
function moveOn(id: string): void {
  const { panel } = get();
  if (panel?.itemId === id) set({ panel: null });
  if (get().focusId === id) focusOn(nextAfter(id));
}

/** Shows the reason in the row and in the panel, which keeps the typed text. */
function refused(item: Item, action: Action, failure: Failure): void {
  const { id } = item;
  const text = refusalWords(`Not ${doneWords(action).toLowerCase()}`, 'decision', failure);
  mark(id, { kind: 'conflict', text });
  changePanel(id, { sending: false, fault: text });
  toast(text, { tone: 'alert', about: aboutOf(item) });
  if (failure.status === 409) void reread(id);
}
