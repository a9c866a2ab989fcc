import { describeLoss, lostWords } from '../../projections/moderation/lost-words.ts';
import { moderatorLosses } from '../../projections/moderation/moderators.ts';
import type { Context } from './connection.ts';
import { type Finding, orOk, warn } from './finding.ts';

const EXPLAINED = 'what can be done is in docs/operating/lost-words.md';

/** Checks that no deletion of an account erased what belongs to the service, a moderator or a guest. */
export async function checkWords({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const lost = await ask(lostWords());
  const moderators = await ask(moderatorLosses());
  return orOk(
    [
      ...lost.map((event) => warn(describeLoss(event), EXPLAINED)),
      ...moderators.flatMap(({ moderator_id: id, no_token, receipts }) => [
        no_token &&
          warn(`The active moderator ${id} has no token`, `npm run moderator -- rotate ${id}`),
        receipts > 0 && warn(`${receipts} receipts of the moderator ${id} are empty`, EXPLAINED),
      ]),
    ],
    'The log has the words of every policy, moderator and comment',
  );
}
