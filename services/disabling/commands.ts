import {
  type DisablingEvents,
  disabling,
  type MembershipCommand,
} from '../../domain/disabling/disabling.ts';
import { refuseUnlessActive } from '../../domain/moderation/policy.ts';
import { LEADS } from '../../domain/moderation/roles.ts';
import { memberOwner } from '../../domain/owners.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { readStream } from '../../platform/eventstore/append.ts';
import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import { type RecordedEvent, SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import { type Command, defineCommand } from '../../platform/eventstore/handle.ts';
import { derive, type Rows } from '../../platform/eventstore/load.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import {
  appealsAgainst,
  disablingsWithinHour,
  type MemberDecisionRow,
} from '../../projections/disabling/member-decisions.ts';
import { findMember } from '../../projections/membership/members.ts';
import { findPolicy } from '../../projections/moderation/policies.ts';
import { type AccessEnding, joinEndings } from '../account-closure.ts';
import type { DecideRefusal } from '../moderation/decisions/contract.ts';
import type { DecideCommand } from '../moderation/decisions/request.ts';
import type { ActiveModerator } from '../moderation/staff/by-moderator.ts';
import { dropLeases } from '../publications/review-leases.ts';

/** The stream of decisions on a membership and of appeals against them; the member owns it. */
export const disablingStream = (memberId: string): string => `disabling-${memberId}`;

/** Loads the decisions on a membership and its appeals, to decide on a further one. */
export function loadMembership(memberId: string) {
  const owner = memberOwner(memberId);
  const stream = disablingStream(memberId);
  return derive(readStream(owner, stream), (recorded) => {
    const state = disabling.replay(recorded);
    const { version } = state;
    function append<Code extends string>(events: EventsOrRefusal<DisablingEvents, Code>) {
      if (isRefusal(events)) return events;
      const appends = [{ owner, stream, version, events }];
      return { appends, events, version: version + events.length };
    }
    const decide = (command: MembershipCommand) => append(disabling.decide(state, command));
    return { recorded, state, append, decide };
  });
}

/** The lead who decides; null for the operator on the command line. */
type By = Pick<ActiveModerator, 'moderatorId'> | null;
/** The same with the role at the time of the decision. */
type Lead = ActiveModerator | null;

export interface DisablingDeps {
  /** What ends with the disabling of a membership: sessions, credentials and claims. */
  disablingEndings: readonly AccessEnding[];
  keys: KeyRing;
  undoSeconds: number;
}

interface Disabled<Status extends string> {
  status: 201;
  body: { status: Status; event_id: string; undo_until: string };
}

export interface DisablingRequest {
  policy: string;
  message: string | null;
  until: Date | null;
}

/** A lead disables at most so many memberships within an hour. */
export const MAX_DISABLINGS_PER_HOUR = 20;
const HOUR_MS = 3_600_000;

type Loaded = Rows<ReturnType<typeof membershipLoad>>;

/** Disables a membership, and ends its sessions, credentials and claims in the same transaction. */
export function disableMember(
  by: By,
  memberId: string,
  { policy, message, until }: DisablingRequest,
  deps: DisablingDeps,
): Command<Disabled<'disabled'>, DecideRefusal | 'rate_limited', Lead> {
  const moderatorId = by?.moderatorId ?? null;
  const endings = joinEndings(deps.disablingEndings, memberId, deps.keys, SERVICE_ACTOR);
  return defineCommand({
    lock: [memberId],
    find: endings.find,
    load: {
      ...membershipLoad(memberId),
      policies: findPolicy(policy),
      appeals: by && appealsAgainst(memberId, by.moderatorId),
      recent: by && disablingsWithinHour(by.moderatorId),
      endings: endings.load,
    },
    decide(loaded, now, lead: Lead) {
      const { policies, recent, appeals } = loaded;
      const refused = refuseUnlessOpen(lead, loaded) ?? refuseUnlessActive(policies[0]);
      if (refused) return refused;
      const oldest = recent.at(-MAX_DISABLINGS_PER_HOUR);
      if (oldest)
        return refuse('rate_limited', {
          limit: MAX_DISABLINGS_PER_HOUR,
          resets_at: new Date(oldest.decided_at.getTime() + HOUR_MS).toISOString(),
        });
      const appealed = appeals.length > 0;
      const command = { policy, message, until, moderatorId, appealed, now };
      const made = loaded.membership.decide({ type: 'DisableMember', ...command });
      if (isRefusal(made)) return made;
      const ended = endings.close(loaded.endings, now);
      return {
        appends: [...made.appends, ...ended.appends],
        rows: [...ended.rows, dropLeases('member', [memberId])],
        reply: toDisabled('disabled', notifiedAt(now, deps.undoSeconds)),
      };
    },
  });
}

/** Lifts a disabling before its time. Nothing that it ended comes back. */
export function enableMember(
  by: By,
  memberId: string,
  { undoSeconds }: Pick<DisablingDeps, 'undoSeconds'>,
): Command<Disabled<'enabled'>, DecideRefusal, Lead> {
  const moderatorId = by?.moderatorId ?? null;
  return defineCommand({
    lock: [memberId],
    load: membershipLoad(memberId),
    decide(loaded, now, lead: Lead) {
      const refused = refuseUnlessOpen(lead, loaded);
      if (refused) return refused;
      const made = loaded.membership.decide({ type: 'EnableMember', moderatorId, now });
      if (isRefusal(made)) return made;
      return {
        appends: made.appends,
        rows: [dropLeases('member', [memberId])],
        reply: toDisabled('enabled', notifiedAt(now, undoSeconds)),
      };
    },
  });
}

/**
 * Undoes a decision on a membership. Where the membership is disabled again, what the member began
 * meanwhile ends as well.
 */
export function undoMemberDecision(
  { member_id: memberId, event_id: of }: Pick<MemberDecisionRow, 'member_id' | 'event_id'>,
  deps: DisablingDeps,
): DecideCommand {
  const endings = joinEndings(deps.disablingEndings, memberId, deps.keys, SERVICE_ACTOR);
  return defineCommand({
    lock: [memberId],
    find: endings.find,
    load: { ...membershipLoad(memberId), endings: endings.load },
    decide(loaded, now, me: ActiveModerator) {
      if (loaded.members[0]?.state !== 'active') return refuse('not_found');
      const made = loaded.membership.decide({
        type: 'UndoMemberDecision',
        of,
        me,
        undoSeconds: deps.undoSeconds,
        now,
      });
      if (isRefusal(made)) return made;
      const [undone] = made.events;
      const decision = undone?.type === 'MemberDecisionUndone' ? undone.data.decision : null;
      const disabledAgain = decision === 'enabled' || decision === 'granted';
      const ended = disabledAgain ? endings.close(loaded.endings, now) : { appends: [], rows: [] };
      return {
        appends: [...made.appends, ...ended.appends],
        rows: [...ended.rows, dropLeases('member', [memberId])],
        reply: ([event]) => ({
          status: 201 as const,
          body: {
            status: 'undone' as const,
            event_id: event?.event_id ?? '',
            state: decision === 'disabled' ? 'enabled' : 'disabled',
            version: made.version,
            undo_until: null,
          },
        }),
      };
    },
  });
}

const toDisabled =
  <Status extends string>(status: Status, undoUntil: Date) =>
  ([event]: readonly RecordedEvent[]): Disabled<Status> => ({
    status: 201,
    body: { status, event_id: event?.event_id ?? '', undo_until: undoUntil.toISOString() },
  });

/** What every decision on a membership reads. */
export const membershipLoad = (memberId: string) => ({
  members: findMember(memberId),
  membership: loadMembership(memberId),
});

/** Refuses moderators who are not leads, and memberships that have ended. */
export function refuseUnlessOpen(
  lead: Lead,
  { members: [member] }: Pick<Loaded, 'members'>,
): Refusal<'role_required' | 'not_found'> | null {
  if (lead && !LEADS.includes(lead.role)) return refuse('role_required', { roles: LEADS });
  return member?.state === 'active' ? null : refuse('not_found');
}
