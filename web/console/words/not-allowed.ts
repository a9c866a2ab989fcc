import {
  type Action,
  appealOf,
  type Item,
  isMember,
  isNote,
  type Moderator,
  reportsOf,
} from './api-model.ts';
import { claimedText, decidedText } from './failure.ts';
import { ACTION_NAMES } from './labels.ts';

/** Whether an item still needs a decision. */
export const needsDecision = (item: Item): boolean =>
  item.state === 'pending' ||
  reportsOf(item).some(({ state }) => state === 'open') ||
  appealOf(item)?.state === 'open';

/** Says why none of the wanted actions is allowed, with who holds or decided the item, and when. */
export function whyNotAllowed(
  item: Item,
  actions: readonly Action[],
  me: Moderator | null,
): string {
  const { claim, decision } = item;
  const note = isNote(item) ? item : null;
  const own = decision?.moderator?.id === me?.id;
  if (me?.role === 'auditor') return 'Auditors cannot decide.';
  if (claim && !claim.mine) return claimedText(claim.moderator, claim.claimed_at);
  if (item.state === 'withdrawn') return 'Its author withdrew it.';
  if (isMember(item) && item.state === 'enabled' && !decision) return 'The membership is enabled.';
  if (appealOf(item)?.state === 'open')
    return own
      ? 'You made this decision, so another moderator must decide the appeal.'
      : 'Your role does not allow you to decide appeals.';
  if (item.state === 'pending') {
    const hidden = note?.parent?.public === false && item.allowed_actions.includes('reject');
    if (hidden && actions.includes('approve'))
      return 'The note it replies to is not public, so this reply cannot be approved.';
    return 'Your role does not allow you to decide on notes.';
  }
  if (decision) {
    const by = own ? 'You' : (decision.moderator?.name ?? 'The service');
    return decidedText(by, decision.decision, decision.decided_at);
  }
  const [action] = actions;
  return action
    ? `“${ACTION_NAMES[action]}” is not possible: the item is ${item.state}.`
    : `There is nothing to decide: the item is ${item.state}.`;
}
