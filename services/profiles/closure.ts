import type { Append } from '../../platform/eventstore/append.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { findProfile, type ProfileRow } from '../../projections/profiles/profiles.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { decideProfile } from './publish.ts';

/**
 * Withdraws the profile when its member's account is closed, even if a moderator removed it, so
 * that it cannot be restored. Load `row` with `findProfile` while the member is locked.
 */
export function closeProfile(memberId: string, row: ProfileRow | undefined): Append[] {
  const append = decideProfile(memberId, row, { type: 'WithdrawProfile', reason: 'deactivated' });
  return isRefusal(append) ? [] : [append];
}

export const profileClosure = defineAccountClosure({
  load: findProfile,
  close: (memberId, [row]) => closeProfile(memberId, row),
  rows: (memberId) => [dropLeases('profile', [memberId])],
});
