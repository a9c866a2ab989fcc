import { type Action, type Item, isNote, type Moderator } from './wire.ts';
import { ACTION_NAMES, decidedWords, heldWords } from './words.ts';

/** Whether an item still needs a decision. */
export const waits = (item: Item): boolean =>
  item.state === 'pending' ||
  item.reports.some(({ state }) => state === 'open') ||
  (isNote(item) && item.appeal?.state === 'open');

/** Says why none of the wanted actions is allowed, with who holds or decided the item, and when. */
export function whyNot(item: Item, wanted: readonly Action[], me: Moderator | null): string {
  const { claim, decision } = item;
  const note = isNote(item) ? item : null;
  const own = decision?.moderator?.id === me?.id;
  if (me?.role === 'auditor') return 'Auditors cannot decide.';
  if (claim && !claim.mine) return heldWords(claim.moderator, claim.claimed_at);
  if (item.state === 'withdrawn') return 'Its author withdrew it.';
  if (note?.appeal?.state === 'open')
    return own
      ? 'You made this decision, so another moderator must decide the appeal.'
      : 'Your role does not allow you to decide appeals.';
  if (item.state === 'pending') {
    const hidden = note?.parent?.public === false && item.allowed_actions.includes('reject');
    if (hidden && wanted.includes('approve'))
      return 'The note it replies to is not public, so this reply cannot be approved.';
    return 'Your role does not allow you to decide on notes.';
  }
  if (decision) {
    const by = own ? 'You' : (decision.moderator?.name ?? 'The service');
    return decidedWords(by, decision.decision, decision.decided_at);
  }
  const [action] = wanted;
  return action
    ? `“${ACTION_NAMES[action]}” is not possible: the item is ${item.state}.`
    : `There is nothing to decide: the item is ${item.state}.`;
}
