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

/** What makes an action a decision. */
export type Decisive = { policy?: string; message?: string; until?: string };

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
  // A claim that was answered after the decision would bring the note back, or be refused.
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
    // What is only put off may still need the words that were begun.
    if (action !== 'defer') forgetDrafts(id);
    settle(id);
    // A note cannot be put off for ever.
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

/** The focus goes on before the answer is there; only what was typed waits for it. */
function moveOn(id: string): void {
  const { panel } = get();
  if (panel?.itemId === id) set({ panel: null });
  if (get().focusId === id) focusOn(nextAfter(id));
}

/** Nothing of it is lost: the row says why, and what was typed stands where it was. */
function refused(item: Item, action: Action, failure: Failure): void {
  const { id } = item;
  const text = refusalWords(`Not ${doneWords(action).toLowerCase()}`, failure);
  mark(id, { kind: 'conflict', text });
  changePanel(id, { sending: false, fault: text });
  toast(text, { tone: 'alert', about: aboutOf(item) });
  if (failure.status === 409) void reread(id);
}
