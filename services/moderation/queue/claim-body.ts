import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { unixSeconds } from '../../../platform/http/schemas.ts';
import type { Item } from './item.ts';

/** The live lease on a row's item, with its holder; all null if the item is unclaimed. */
export interface HolderColumns {
  lease_id: string | null;
  holder_id: string | null;
  holder_name: string | null;
  claimed_at: Date | null;
  expires_at: Date | null;
}

export function claimBody(
  { lease_id, holder_id, holder_name, claimed_at, expires_at }: HolderColumns,
  me: Pick<PrincipalOf<'moderator'>, 'moderatorId'>,
): Item['claim'] {
  if (!lease_id || !holder_id || !claimed_at || !expires_at) return null;
  return {
    lease_id,
    moderator: { id: holder_id, name: holder_name ?? '' },
    claimed_at: claimed_at.toISOString(),
    expires_at: unixSeconds(expires_at),
    mine: holder_id === me.moderatorId,
  };
}
