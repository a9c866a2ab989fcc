import {
  disabling,
  type MembershipCommand,
  type MembershipState,
} from '../../domain/disabling/disabling.ts';
import { disablingStream } from '../../domain/disabling/streams.ts';
import { refuseUnlessActive } from '../../domain/moderation/policy.ts';
import { LEADS } from '../../domain/moderation/roles.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { type Append, readStream } from '../../platform/eventstore/append.ts';
import type { Actor } from '../../platform/eventstore/event.ts';
import {
  type Command,
  type Decision,
  defineCommand,
} from '../../platform/eventstore/event-store.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import {
  appealsAgainst,
  disablingsWithinHour,
  type MemberDecisionRow,
} from '../../projections/disabling/member-decisions.ts';
import { findMember } from '../../projections/membership/members.ts';
import { findPolicy } from '../../projections/moderation/policies.ts';
import { type DisablingEnding, FIRST_BATCH } from '../membership/account-closure.ts';
import type { Decided, DecideRefusal } from '../moderation/decisions/contract.ts';
import { lockModerator } from '../moderation/staff/lock-moderator.ts';
import { dropLeases } from '../publications/review-leases.ts';

/** A lead, or the operator on the command line, who needs no proof. */
export type By = PrincipalOf<'moderator'> | 'operator';

export interface DisablingDeps {
  /** What ends with the disabling of a membership: sessions, credentials and claims. */
  disablingEndings: readonly DisablingEnding[];
  keys: KeyRing;
  undoSeconds: number;
}

export interface Disabled {
  status: 'disabled' | 'enabled';
  event_id: string;
  undo_until: string;
}

export interface DisablingRequest {
  policy: string;
  message: string | null;
  until: Date | null;
}

/** A lead disables at most so many memberships within an hour. */
export const MAX_DISABLINGS_PER_HOUR = 20;
const HOUR_MS = 3_600_000;

/** Disables a membership, and ends its sessions, credentials and claims in the same transaction. */
export function disableMember(
  by: By,
  memberId: string,
  { policy, message, until }: DisablingRequest,
  deps: DisablingDeps,
): Command<Disabled, DecideRefusal | 'rate_limited'> {
  const me = by === 'operator' ? null : by;
  const moderatorId = me?.moderatorId ?? null;
  const endings = endingsWith(deps, memberId);
  return defineCommand({
    lock: [memberId],
    find: endings.find,
    load: {
      ...proofOf(by, memberId),
      policies: findPolicy(policy),
      appeals: me && appealsAgainst(memberId, me.moderatorId),
      recent: me && disablingsWithinHour(me.moderatorId),
      endings: endings.load,
    },
    decide({ rows, now }): Decision<Disabled, DecideRefusal | 'rate_limited'> {
      const refused = refuseUnproven(by, rows) ?? refuseUnlessActive(rows.policies[0]);
      if (refused) return refused;
      const oldest = rows.recent.at(-MAX_DISABLINGS_PER_HOUR);
      if (oldest)
        return refuse('rate_limited', {
          limit: MAX_DISABLINGS_PER_HOUR,
          resets_at: new Date(oldest.decided_at.getTime() + HOUR_MS).toISOString(),
        });
      const appealed = rows.appeals.length > 0;
      const command = { policy, message, until, moderatorId, appealed, now };
      return decided(by, memberId, rows, { type: 'DisableMember', ...command }, 'disabled', {
        ...endings.close(rows.endings, now),
        undoUntil: notifiedAt(now, deps.undoSeconds),
      });
    },
  });
}

/** Lifts a disabling before its time. Nothing that it ended comes back. */
export function enableMember(
  by: By,
  memberId: string,
  { undoSeconds }: Pick<DisablingDeps, 'undoSeconds'>,
): Command<Disabled, DecideRefusal> {
  const moderatorId = by === 'operator' ? null : by.moderatorId;
  return defineCommand({
    lock: [memberId],
    load: proofOf(by, memberId),
    decide({ rows, now }): Decision<Disabled, DecideRefusal> {
      const refused = refuseUnproven(by, rows);
      if (refused) return refused;
      return decided(by, memberId, rows, { type: 'EnableMember', moderatorId, now }, 'enabled', {
        undoUntil: notifiedAt(now, undoSeconds),
      });
    },
  });
}

/**
 * Undoes a decision on a membership. Where the membership is disabled again, what the member began
 * meanwhile ends as well.
 */
export function undoMemberDecision(
  me: PrincipalOf<'moderator'>,
  { member_id: memberId, event_id: of }: Pick<MemberDecisionRow, 'member_id' | 'event_id'>,
  deps: DisablingDeps,
): Command<Decided, DecideRefusal> {
  const endings = endingsWith(deps, memberId);
  return defineCommand({
    lock: [memberId],
    find: endings.find,
    load: { ...proofOf(me, memberId), endings: endings.load },
    decide({ rows, now }): Decision<Decided, DecideRefusal> {
      const [live] = rows.moderators;
      if (!live) return refuse('moderator_required');
      if (rows.members[0]?.state !== 'active') return refuse('not_found');
      const state = disabling.replay(rows.events);
      const by = { moderatorId: me.moderatorId, role: live.role };
      const made = disabling.decide(state, {
        type: 'UndoMemberDecision',
        of,
        me: by,
        undoSeconds: deps.undoSeconds,
        now,
      });
      if (isRefusal(made)) return made;
      const [undone] = made;
      const disabledAgain =
        undone?.type === 'MemberDecisionUndone' &&
        (undone.data.decision === 'enabled' || undone.data.decision === 'granted');
      const ended = disabledAgain ? endings.close(rows.endings, now) : { appends: [], rows: [] };
      return {
        answer: ([event]) => ({
          status: 'undone',
          event_id: event?.event_id ?? '',
          state:
            undone?.type === 'MemberDecisionUndone' && undone.data.decision === 'disabled'
              ? 'enabled'
              : 'disabled',
          version: state.version + made.length,
          undo_until: null,
        }),
        appends: [appendOf(me, memberId, state, made), ...ended.appends],
        rows: [...ended.rows, dropLeases('member', [memberId])],
      };
    },
  });
}

export const appendOf = (
  by: By,
  memberId: string,
  { version }: MembershipState,
  events: Append['events'],
): Append => ({
  owner: memberOwner(memberId),
  stream: disablingStream(memberId),
  version,
  actor: actorOf(by),
  events,
});

/** Makes the decision of a command into the writes of its transaction. */
function decided(
  by: By,
  memberId: string,
  { events }: { events: Parameters<typeof disabling.replay>[0] },
  command: MembershipCommand,
  status: Disabled['status'],
  { undoUntil, ...ended }: { undoUntil: Date; appends?: Append[]; rows?: Sql[] },
): Decision<Disabled, DecideRefusal> {
  const state = disabling.replay(events);
  const made = disabling.decide(state, command);
  if (isRefusal(made)) return made;
  return {
    answer: ([event]) => ({
      status,
      event_id: event?.event_id ?? '',
      undo_until: undoUntil.toISOString(),
    }),
    appends: [appendOf(by, memberId, state, made), ...(ended.appends ?? [])],
    rows: [...(ended.rows ?? []), dropLeases('member', [memberId])],
  };
}

export const actorOf = (by: By): Actor =>
  by === 'operator' ? { type: 'operator' } : { type: 'moderator', id: by.moderatorId };

/** What every decision on a membership reads. The lead's row is locked, so that the limit holds. */
export const proofOf = (by: By, memberId: string) => ({
  moderators: by === 'operator' ? null : lockModerator(by),
  members: findMember(memberId),
  events: readStream(memberOwner(memberId), disablingStream(memberId)),
});

export function refuseUnproven(
  by: By,
  {
    moderators: [live],
    members: [member],
  }: {
    moderators: readonly { role: PrincipalOf<'moderator'>['role'] }[];
    members: readonly { state: string }[];
  },
): Refusal<'moderator_required' | 'role_required' | 'not_found'> | null {
  if (by !== 'operator') {
    if (!live) return refuse('moderator_required');
    if (!LEADS.includes(live.role)) return refuse('role_required', { roles: LEADS });
  }
  return member?.state === 'active' ? null : refuse('not_found');
}

/**
 * What ends with the membership's disabling. All of it fits in one transaction: a member has at most 50 live
 * sessions, few credentials and 25 claimed cases.
 */
function endingsWith(
  { disablingEndings: endings, keys }: Pick<DisablingDeps, 'disablingEndings' | 'keys'>,
  memberId: string,
) {
  const request = { keys };
  const actor = { type: 'service' as const };
  return {
    find: endings.flatMap((ending) => ending.find?.(memberId, request, FIRST_BATCH) ?? []),
    load: endings.map((ending) => ending.load(memberId, request, FIRST_BATCH)),
    close: (rows: readonly unknown[], now: Date) => ({
      appends: endings
        .flatMap((ending, index) => ending.close(memberId, rows[index], now, request))
        .filter(({ events }) => events.length > 0)
        .map((append) => ({ ...append, actor })),
      rows: endings.flatMap(
        (ending, index) => ending.rows?.(memberId, rows[index], now, request) ?? [],
      ),
    }),
  };
}
