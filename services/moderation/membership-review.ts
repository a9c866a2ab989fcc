import type pg from 'pg';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { Sql } from '../../platform/sql.ts';
import type { AccessEnding } from '../membership/account-closure.ts';
import type { DecideCommand } from './decisions/request.ts';
import type { ReviewingModerator } from './queue/item-parts.ts';
import type { MemberAction, MemberItem, MemberItemRow } from './queue/member-item.ts';

/** A membership as a claim finds it. */
export interface ClaimableMember {
  id: string;
  state: MemberItem['state'];
  version: number;
  /** Whether an appeal is open against a disabling that is in force. */
  appealed: boolean;
}

/** A decision on the open appeal of a disabled member. */
export interface MemberAppealDecision {
  action: MemberAction;
  message?: string | undefined;
  expected_version: number;
  take_over?: boolean | undefined;
}

interface UndoDeps {
  pool: pg.Pool;
  keys: KeyRing;
  disablingEndings: readonly AccessEnding[];
  undoSeconds: number;
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
  /** The stream of decisions on a membership and of its appeals. */
  stream(memberId: string): string;
  decideAppeal(
    memberId: string,
    decision: MemberAppealDecision,
    undoSeconds: number,
  ): DecideCommand;
  /** The command that undoes a decision on a membership; undefined if the event is no such decision. */
  findUndo(eventId: string, deps: UndoDeps): Promise<DecideCommand | undefined>;
}
