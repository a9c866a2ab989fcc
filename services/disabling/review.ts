import { query } from '../../platform/postgres/query.ts';
import { OPEN_APPEALS } from '../../projections/disabling/member-appeals.ts';
import { findMemberDecision } from '../../projections/disabling/member-decisions.ts';
import type { MembershipReview } from '../moderation/membership-review.ts';
import { disablingStream, undoMemberDecision } from './commands.ts';
import { decideMemberAppeal } from './decide-appeal.ts';
import {
  appealsByDecider,
  claimableMembers,
  lockAppeals,
  memberItemBody,
  memberItems,
} from './member-item.ts';

/** What moderators need of disabled memberships. */
export const membershipReview: MembershipReview = {
  openAppeals: OPEN_APPEALS,
  appealsByDecider,
  claimable: (ids) => ({ locked: lockAppeals(ids), members: claimableMembers(ids) }),
  items: memberItems,
  itemBody: memberItemBody,
  stream: disablingStream,
  decideAppeal: decideMemberAppeal,
  async findUndo(eventId, { pool, ...deps }) {
    const [decision] = await query(pool, findMemberDecision(eventId));
    return decision && undoMemberDecision(decision, deps);
  },
};
