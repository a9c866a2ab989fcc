import { memberOwner } from '../../domain/owners.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { lastFact } from '../../platform/eventstore/append.ts';
import { defineCommand } from '../../platform/eventstore/handle.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { moderatorNames } from '../../projections/moderation/moderators.ts';
import { liveLeasesOn, takeOverStream } from '../moderation/claims/leases.ts';
import { claimedAt, passClaim } from '../moderation/claims/override.ts';
import { withWinner } from '../moderation/decisions/decide-rows.ts';
import type { MemberAppealDecision } from '../moderation/decisions/membership-decisions.ts';
import type { DecideCommand } from '../moderation/decisions/request.ts';
import type { ActiveModerator } from '../moderation/staff/by-moderator.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { membershipLoad, refuseUnlessOpen } from './commands.ts';
import { lockAppeals } from './member-item.ts';

/** Grants or upholds the open appeal of a disabled member; never by the lead who disabled the membership. */
export function decideMemberAppeal(
  memberId: string,
  { action, message, expected_version, take_over = false }: MemberAppealDecision,
  undoSeconds: number,
): DecideCommand {
  const owner = memberOwner(memberId);
  const subject = { type: 'member' as const, id: memberId };
  return defineCommand({
    lock: [memberId],
    load: {
      ...membershipLoad(memberId),
      appeals: lockAppeals([memberId]),
      leases: liveLeasesOn('member', [memberId]),
      takeOvers: take_over ? lastFact(owner, takeOverStream(subject)) : null,
      names: moderatorNames(),
    },
    decide(loaded, now, me: ActiveModerator) {
      const refused = refuseUnlessOpen(me, loaded);
      if (refused) return refused;
      const { membership, takeOvers, names } = loaded;
      const [lease] = loaded.leases;
      const made = membership.decide({
        type: 'DecideMemberAppeal',
        decision: action,
        message: message ?? null,
        moderatorId: me.moderatorId,
        expectedVersion: expected_version,
        claimedAt: claimedAt(lease, me),
        now,
      });
      if (isRefusal(made)) return withWinner(made, membership.recorded, names);
      const overrides = { takeOver: take_over, removes: false };
      const takenOver = passClaim({ lease, owner, takeOvers }, overrides, me);
      if (isRefusal(takenOver)) return takenOver;
      return {
        appends: [...made.appends, ...takenOver],
        rows: [dropLeases('member', [memberId])],
        reply: ([event]) => ({
          status: 201 as const,
          body: {
            status: 'decided' as const,
            event_id: event?.event_id ?? '',
            state: action === 'grant' ? 'enabled' : 'disabled',
            version: made.version,
            undo_until: notifiedAt(now, undoSeconds).toISOString(),
          },
        }),
      };
    },
  });
}
