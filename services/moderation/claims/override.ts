import { LEADS } from '../../../domain/moderation/roles.ts';
import type { OwnAppend } from '../../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import type { Owner } from '../../../platform/eventstore/owner.ts';
import { isRefusal, type Refusal } from '../../../platform/refusal.ts';
import type { ActiveModerator } from '../staff/by-moderator.ts';
import { claimedByOther, type NamedLease, takeOverAppend } from './leases.ts';

/**
 * How a request treats the claim of another moderator: an undo ignores claims; a decision says whether
 * a lead takes the item over, and whether it removes what is public.
 */
export type ClaimOverride = 'claims' | { takeOver: boolean; removes: boolean };

/** When the moderator claimed the item; null without a live claim of theirs. */
export const claimedAt = (lease: NamedLease | undefined, me: ActiveModerator): string | null =>
  lease?.moderator_id === me.moderatorId ? lease.claimed_at.toISOString() : null;

interface HeldItem {
  lease: NamedLease | undefined;
  owner: Owner;
  /** The last event of the stream of claims on the item that were taken over. */
  takeOvers: readonly RecordedEvent[];
}

/**
 * The event by which the moderator takes the item over with the decision, if that is so; a refusal
 * if another moderator's claim stops the decision.
 */
export function passClaim(
  { lease, owner, takeOvers }: HeldItem,
  overrides: ClaimOverride,
  me: ActiveModerator,
): OwnAppend[] | Refusal<'state_conflict'> {
  if (!lease || lease.moderator_id === me.moderatorId) return [];
  const claim = overrideClaim(lease, overrides, me);
  if (isRefusal(claim)) return claim;
  return claim === 'taken_over' ? [takeOverAppend(owner, lease, takeOvers)] : [];
}

/**
 * Claims keep two people from working on one item, but they are no veto: an undo and a lead's removal
 * ignore them, and a lead can take over the item. Refuses every other decision.
 */
function overrideClaim(
  lease: NamedLease,
  overrides: ClaimOverride,
  { role }: ActiveModerator,
): 'ignored' | 'taken_over' | Refusal<'state_conflict'> {
  if (overrides === 'claims') return 'ignored';
  if (!LEADS.includes(role)) return claimedByOther(lease);
  if (overrides.removes) return 'ignored';
  return overrides.takeOver ? 'taken_over' : claimedByOther(lease);
}
