import type pg from 'pg';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import type { AccessEnding } from '../../account-closure.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import type { MemberAction } from '../queue/member-item.ts';
import type { MembershipReview } from '../queue/membership-review.ts';
import type { DecideCommand } from './request.ts';

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

/** What decisions need of disabled memberships, beside what the queue needs. */
export interface MembershipDecisions extends MembershipReview {
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

/** The dependencies of decisions. */
export interface DecisionsDeps extends ModerationDeps {
  membershipReview: MembershipDecisions;
  /** What ends with the disabling of a membership. */
  disablingEndings: readonly AccessEnding[];
}
