import { query } from '../../platform/postgres/query.ts';
import { OPEN_APPEALS } from '../../projections/disabling/member-appeals.ts';
import { findMemberDecision } from '../../projections/disabling/member-decisions.ts';
import type { MembershipDecisions } from '../moderation/decisions/membership-decisions.ts';
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
export const membershipReview: MembershipDecisions = {
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
