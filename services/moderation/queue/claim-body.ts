import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { unixSeconds } from '../../../platform/http/schemas.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import type { Item } from './item.ts';

/** The live lease on a row's item, with its holder; all null if the item is unclaimed. */
export interface HolderColumns {
  lease_id: string | null;
  holder_id: string | null;
  holder_name: string | null;
  claimed_at: Date | null;
  expires_at: Date | null;
}

/** The columns of `HolderColumns`, from the tables of `joinHolder`. */
export const HOLDER_COLUMNS =
  'l.lease_id, l.moderator_id AS holder_id, h.name AS holder_name, l.claimed_at, l.expires_at';

/** SQL that joins the live lease on an item, if any, and the moderator who holds it. */
export const joinHolder = (type: string, id: string): string =>
  `LEFT JOIN note_leases l ON l.note_id = ${id} AND l.subject_type = ${type}
      AND ${isLiveLease('l')}
    LEFT JOIN moderators h ON h.moderator_id = l.moderator_id`;

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
