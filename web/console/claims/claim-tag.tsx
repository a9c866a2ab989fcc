import { findLease, leaseState } from '../in-progress/leases.ts';
import { connectionState } from '../session/connection.ts';
import type { Item } from '../words/api-model.ts';
import { claimedText } from '../words/failure.ts';
import { formatTime } from '../words/format.ts';
import { claimWithToast } from './claims.ts';

/** Who has claimed an item: one tag in a line that is always there, so that the text never moves. */
export function ClaimTag({ item: { id, claim } }: { item: Item }) {
  const lease = findLease(id);
  if (lease)
    return (
      <span
        class="tag mine lease"
        title={`Until ${formatTime(lease.expires_at * 1000)}, renewed while this tab is visible`}
      >
        Claimed by you
      </span>
    );
  if (leaseState().leases.get(id)?.lost)
    return <span class="tag due lease">Your claim was lost</span>;
  if (claim && !claim.mine)
    return (
      <>
        <span class="tag due lease">
          <bdi>{claimedText(claim.moderator, claim.claimed_at)}</bdi>
        </span>
        {connectionState().me?.role === 'lead' && (
          <button type="button" onClick={() => void claimWithToast(id, true)}>
            Take over
          </button>
        )}
      </>
    );
  return null;
}
