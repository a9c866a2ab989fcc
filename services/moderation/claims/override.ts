import { LEADS } from '../../../domain/moderation/roles.ts';
import type { Role } from '../../../platform/http/principal.ts';
import type { Refusal } from '../../../platform/refusal.ts';
import { claimedByOther, type NamedLease } from './leases.ts';

/**
 * How a request treats the claim of another moderator: an undo ignores claims; a decision says whether
 * a lead takes the item over, and whether it removes what is public.
 */
export type ClaimOverride = 'claims' | { takeOver: boolean; removes: boolean };

/**
 * Claims keep two people from working on one item, but they are no veto: an undo and a lead's removal
 * ignore them, and a lead can take over the item. Refuses every other decision.
 */
export function overrideClaim(
  lease: NamedLease,
  overrides: ClaimOverride,
  role: Role,
): 'ignored' | 'taken_over' | Refusal<'state_conflict'> {
  if (overrides === 'claims') return 'ignored';
  if (!LEADS.includes(role)) return claimedByOther(lease);
  if (overrides.removes) return 'ignored';
  return overrides.takeOver ? 'taken_over' : claimedByOther(lease);
}
