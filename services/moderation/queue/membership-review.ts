import type { Sql } from '../../../platform/sql.ts';
import type { ReviewingModerator } from './item-parts.ts';
import type { MemberItem, MemberItemRow } from './member-item.ts';

/** A membership as a claim finds it. */
export interface ClaimableMember {
  id: string;
  state: MemberItem['state'];
  version: number;
  /** Whether an appeal is open against a disabling that is in force. */
  appealed: boolean;
}

/**
 * What the queue needs of disabled memberships, whose appeals only leads see and decide. The capability of
 * disabling, which builds on moderation, provides it.
 */
export interface MembershipReview {
  /**
   * SQL that selects the open appeals against disablings in force, `a` being the row to lock: `member_id`,
   * `opened_at` and `disabled_by`, the lead or null.
   */
  openAppeals: string;
  /** The number of open appeals by the lead who disabled the membership; null for the operator. */
  appealsByDecider(): Sql<{ moderator_id: string | null; count: number }>;
  /** Locks the open appeals of these members, and reads the memberships. */
  claimable(memberIds: readonly string[]): { locked: Sql; members: Sql<ClaimableMember> };
  /** Reads memberships, in the order of their ids; those that ended are left out. */
  items(memberIds: readonly string[]): Sql<MemberItemRow>;
  /** A membership as this lead sees it. */
  itemBody(row: MemberItemRow, reviewer: ReviewingModerator): MemberItem;
}
