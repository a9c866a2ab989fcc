import { disabling } from '../../domain/disabling/disabling.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { lastFact } from '../../platform/eventstore/append.ts';
import { type Command, type Decision, defineCommand } from '../../platform/eventstore/command.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { moderatorNames } from '../../projections/moderation/actor-names.ts';
import { liveLeaseOn, takeOverAppend, takeOverStream } from '../moderation/claims/leases.ts';
import { overrideClaim } from '../moderation/claims/override.ts';
import type { Decided, DecideRefusal } from '../moderation/decisions/contract.ts';
import { withWinner } from '../moderation/decisions/decide-rows.ts';
import type { MemberAppealDecision } from '../moderation/membership-review.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { appendOf, proofOf, refuseUnproven } from './commands.ts';
import { lockAppeals } from './member-rows.ts';

/** Grants or upholds the open appeal of a disabled member; never by the lead who disabled the membership. */
export function decideMemberAppeal(
  me: PrincipalOf<'moderator'>,
  memberId: string,
  { action, message, expected_version, take_over = false }: MemberAppealDecision,
  undoSeconds: number,
): Command<Decided, DecideRefusal> {
  const { moderatorId } = me;
  const owner = memberOwner(memberId);
  const subject = { type: 'member' as const, id: memberId };
  return defineCommand({
    lock: [memberId],
    load: {
      ...proofOf(me, memberId),
      appeals: lockAppeals([memberId]),
      leases: liveLeaseOn(subject),
      takeOvers: take_over ? lastFact(owner, takeOverStream(subject)) : null,
      names: moderatorNames(),
    },
    decide({ rows, now }): Decision<Decided, DecideRefusal> {
      const refused = refuseUnproven(me, rows);
      if (refused) return refused;
      const [lease] = rows.leases;
      const own = lease?.moderator_id === moderatorId;
      const state = disabling.replay(rows.events);
      const made = disabling.decide(state, {
        type: 'DecideMemberAppeal',
        decision: action,
        message: message ?? null,
        moderatorId,
        expectedVersion: expected_version,
        claimedAt: lease && own ? lease.claimed_at.toISOString() : null,
        now,
      });
      if (isRefusal(made)) return withWinner(made, rows.events, rows.names);
      const held = lease && !own ? lease : null;
      const overrides = { takeOver: take_over, removes: false };
      const claim = held && overrideClaim(held, overrides, me.role);
      if (isRefusal(claim)) return claim;
      return {
        answer: ([event]) => ({
          status: 'decided',
          event_id: event?.event_id ?? '',
          state: action === 'grant' ? 'enabled' : 'disabled',
          version: state.version + made.length,
          undo_until: notifiedAt(now, undoSeconds).toISOString(),
        }),
        appends: [
          appendOf(me, memberId, state, made),
          ...(held ? [takeOverAppend(owner, held, moderatorId, rows.takeOvers)] : []),
        ],
        rows: [dropLeases('member', [memberId])],
      };
    },
  });
}
