import { hasVisibleText } from '../../platform/visible-text.ts';
import { claimThis } from './claims.ts';
import { type Decisive, decide } from './decisions.ts';
import { leaseOn, leavePanel, release } from './leases.ts';
import { focusOn, nextAfter } from './queue.ts';
import { changePanel, current, draftOf, get, itemOf, listView, mark, set, toast } from './state.ts';
import { waits, whyNot } from './why-not.ts';
import type { Action, Item } from './wire.ts';
import { aboutOf, failureWords } from './words.ts';

/** Actions that need a word or a choice before they are sent. */
const WITH_PANEL: readonly Action[] = ['reject', 'remove', 'escalate', 'defer', 'uphold'];

/** What `a` and `r` mean for a note: to let it stand, or not. */
export const YES: readonly Action[] = ['approve', 'grant', 'keep', 'restore'];
export const NO: readonly Action[] = ['reject', 'uphold', 'remove'];

export const firstAllowed = (item: Item, actions: readonly Action[]): Action | undefined =>
  actions.find((action) => item.allowed_actions.includes(action));

/**
 * Begins the first allowed of these actions on the present note: immediately, or with the panel that
 * asks for the rest. If none is allowed, says why, and goes on where nothing is left to decide.
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
  // From one panel to another of the same note, it is still held for the sake of them.
  const claimedHere = !held || (before?.itemId === item.id && before.claimedHere);
  set({ open: true, panel: { action, itemId: item.id, claimedHere, sending: false, fault: null } });
  if (held) return;
  // Whoever begins to write about a note holds it, so that nobody else writes about it too.
  const failure = await claimThis(item.id);
  if (!failure || failure.reason === 'claim_limit') {
    if (failure) changePanel(item.id, { claimedHere: false });
    else if (get().panel?.itemId !== item.id && !get().marks.has(item.id)) void release(item.id);
    return;
  }
  changePanel(item.id, { claimedHere: false });
  // A decision that was sent meanwhile is refused for the same reason, and says so.
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

/** What the panel was filled in with. With words of one's own the note waits for the answer. */
export function finish(said: Decisive): void {
  const { panel } = get();
  const item = itemOf(panel?.itemId ?? null);
  if (!panel || !item || panel.sending) return;
  const message = draftOf(item.id, panel.action).trim();
  void decide(item, panel.action, { ...said, ...(hasVisibleText(message) ? { message } : {}) });
}
