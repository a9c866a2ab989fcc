import { attribute } from '../../platform/eventstore/append.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { loadProfile } from './profile-stream.ts';

/**
 * Withdraws the profile when its member's account is closed, even if a moderator removed it, so
 * that it cannot be restored.
 */
export const profileClosure = defineAccountClosure({
  load: loadProfile,
  close(memberId, own) {
    const withdrawn = own.decide({ type: 'WithdrawProfile', reason: 'deactivated' });
    if (isRefusal(withdrawn)) return [];
    return attribute(withdrawn.appends, { type: 'member', id: memberId });
  },
  rows: (memberId) => [dropLeases('profile', [memberId])],
});
