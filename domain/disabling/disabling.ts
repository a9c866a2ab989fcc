import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import { conflict, wrongVersion } from '../conflict.ts';
import type { Role } from '../permissions.ts';
import { notifiedAt, undoRefusal } from '../publications/undo.ts';
import type * as events from './events.ts';

export type DisablingEvents = (typeof events)[keyof typeof events];

/** Who decides: a lead, or the operator, who has no id. */
export interface Decider {
  moderatorId: string | null;
}

interface Decision extends Decider {
  eventId: string;
  at: Date;
}

type AppealState = 'open' | 'granted' | 'upheld';

interface Appeal {
  id: string;
  state: AppealState;
  decision: Decision | null;
}

/** The latest disabling of a membership, and what came of it. */
interface Disabling extends Decision {
  /** Null: until a lead lifts it. */
  until: Date | null;
  /** The decision that lifted it, or that granted the appeal; null while it lasts. */
  lifted: (Decision & { kind: 'enabled' | 'granted' | 'undone' }) | null;
  appeal: Appeal | null;
}

/** The state of a membership, which may have been disabled more than once. */
export interface MembershipState {
  version: number;
  last: Disabling | null;
}

export interface DisableMember extends Decider {
  type: 'DisableMember';
  policy: string;
  message: string | null;
  until: Date | null;
  now: Date;
  /** Whether the member has an open appeal against a decision of this moderator. */
  appealed: boolean;
}

export interface EnableMember extends Decider {
  type: 'EnableMember';
  now: Date;
}

export interface AppealDisabling {
  type: 'AppealDisabling';
  appealId: string;
  text: string;
  undoSeconds: number;
  now: Date;
}

export interface DecideMemberAppeal extends Decider {
  type: 'DecideMemberAppeal';
  decision: 'grant' | 'uphold';
  message: string | null;
  expectedVersion: number;
  claimedAt: string | null;
  now: Date;
}

export interface UndoMemberDecision {
  type: 'UndoMemberDecision';
  /** The event of the decision. */
  of: string;
  me: { moderatorId: string; role: Role };
  undoSeconds: number;
  now: Date;
}

export type MembershipCommand =
  | DisableMember
  | EnableMember
  | AppealDisabling
  | DecideMemberAppeal
  | UndoMemberDecision;

type Result = EventsOrRefusal<
  DisablingEvents,
  'invalid_request' | 'role_required' | 'state_conflict'
>;

/** Whether the membership is disabled at this time. */
export const isDisabled = ({ last }: MembershipState, now: Date): boolean =>
  last !== null && last.lifted === null && (last.until === null || last.until > now);

const current = (state: MembershipState, now: Date) => ({
  current_state: isDisabled(state, now) ? 'disabled' : 'enabled',
  current_version: state.version,
});

/**
 * A membership is disabled for a time or until it is lifted, by a lead or the operator. The member may
 * appeal once against each disabling, and another lead decides the appeal.
 */
export const disabling = {
  initial: { version: 0, last: null } as MembershipState,

  decide(state: MembershipState, command: MembershipCommand): Result {
    switch (command.type) {
      case 'DisableMember':
        return disable(state, command);
      case 'EnableMember':
        return enable(state, command);
      case 'AppealDisabling':
        return openAppeal(state, command);
      case 'DecideMemberAppeal':
        return decideAppeal(state, command);
      case 'UndoMemberDecision':
        return undo(state, command);
    }
  },

  evolve,

  /** The state after the events of the stream. */
  replay(recorded: readonly RecordedEvent[]): MembershipState {
    return (recorded as readonly RecordedEvent<DisablingEvents>[]).reduce(
      evolve,
      disabling.initial,
    );
  },
};

function disable(state: MembershipState, command: DisableMember): Result {
  const { policy, message, until, now, moderatorId } = command;
  if (until && until <= now)
    return refuse('invalid_request', {
      issues: [{ path: 'until', message: 'must be in the future' }],
    });
  if (isDisabled(state, now)) return conflict('wrong_state', current(state, now));
  const appealed = command.appealed || isAppealedAgainst(state.last, moderatorId);
  if (appealed) return conflict('second_person_required');
  return [
    {
      type: 'MemberDisabled',
      data: { policy, until: until?.toISOString() ?? null },
      personal: { message },
    },
  ];
}

/** Whether the member has an open appeal against the disabling by this moderator. */
const isAppealedAgainst = (last: Disabling | null, moderatorId: string | null): boolean =>
  moderatorId !== null && last?.appeal?.state === 'open' && last.moderatorId === moderatorId;

function enable(state: MembershipState, { now, moderatorId }: EnableMember): Result {
  const { last } = state;
  if (!last || !isDisabled(state, now)) return conflict('wrong_state', current(state, now));
  if (isAppealedAgainst(last, moderatorId)) return conflict('second_person_required');
  return [
    {
      type: 'MemberEnabled',
      data: { of: last.eventId, appeal_id: openAppealOf(last) },
      personal: null,
    },
  ];
}

const openAppealOf = ({ appeal: made }: Disabling): string | null =>
  made?.state === 'open' ? made.id : null;

/** Allows one appeal for each disabling, once the member may know its reason. */
export function openAppeal(
  state: MembershipState,
  command: Omit<AppealDisabling, 'type'>,
): EventsOrRefusal<DisablingEvents, 'state_conflict'> {
  const { appealId, text, undoSeconds, now } = command;
  const { last } = state;
  if (!last || !isDisabled(state, now) || now < notifiedAt(last.at, undoSeconds))
    return conflict('wrong_state');
  if (last.appeal) return conflict('already_appealed');
  return [
    {
      type: 'MemberAppealed',
      data: { appeal_id: appealId, of: last.eventId },
      personal: { text },
    },
  ];
}

function decideAppeal(state: MembershipState, command: DecideMemberAppeal): Result {
  const refused = appealRefusal(state, command);
  if (refused) return refused;
  const { last } = state;
  if (command.expectedVersion !== state.version)
    return wrongVersion(state, { current_state: 'disabled' });
  return [
    {
      type: command.decision === 'grant' ? 'MemberAppealGranted' : 'MemberAppealUpheld',
      data: {
        appeal_id: last?.appeal?.id ?? '',
        of: last?.eventId ?? '',
        claimed_at: command.claimedAt,
      },
      personal: { message: command.message },
    },
  ];
}

/** Why this moderator may not decide the appeal, or null; the buttons of the console ask this rule. */
export function appealRefusal(
  state: MembershipState,
  { moderatorId, now }: Decider & { now: Date },
): Refusal<'state_conflict'> | null {
  const { last } = state;
  if (last?.appeal?.state !== 'open' || !isDisabled(state, now))
    return conflict('wrong_state', current(state, now));
  return last.moderatorId === moderatorId ? conflict('second_person_required') : null;
}

type Undoable = Decision & { kind: 'disabled' | 'enabled' | 'granted' | 'upheld' };

/** The decisions on the latest disabling that still have an effect. */
function undoable({ last }: MembershipState): Undoable[] {
  if (!last) return [];
  const { appeal: made, lifted, eventId, moderatorId, at } = last;
  if (lifted) return lifted.kind === 'undone' ? [] : [{ ...lifted, kind: lifted.kind }];
  const upheld: Undoable[] =
    made?.state === 'upheld' && made.decision ? [{ ...made.decision, kind: 'upheld' }] : [];
  return [...upheld, { eventId, moderatorId, at, kind: 'disabled' }];
}

/** Whether the caller may undo a decision now; null if the decision has no effect any more. */
export function undoMemberRefusal(
  state: MembershipState,
  { of, me, undoSeconds, now }: Omit<UndoMemberDecision, 'type'>,
): Refusal<'role_required' | 'state_conflict'> | null {
  if (me.role !== 'lead') return refuse('role_required', { roles: ['lead'] });
  const decision = undoable(state).find(({ eventId }) => eventId === of);
  const until = state.last?.until;
  const over = until !== null && until !== undefined && until <= now;
  if (!decision || over) return conflict('wrong_state', current(state, now));
  const appealed = decision.kind === 'disabled' && state.last?.appeal?.state === 'open';
  const { kind, moderatorId, at } = decision;
  const reviewed = kind === 'disabled' ? null : (state.last?.moderatorId ?? null);
  return undoRefusal({
    decision: { kind, moderatorId, at, appealed, reviewed },
    me,
    undoSeconds,
    now,
  });
}

function undo(state: MembershipState, command: UndoMemberDecision): Result {
  const refused = undoMemberRefusal(state, command);
  if (refused) return refused;
  const { last } = state;
  const decision = undoable(state).find(({ eventId }) => eventId === command.of);
  if (!last || !decision) return conflict('wrong_state', current(state, command.now));
  return [
    {
      type: 'MemberDecisionUndone',
      data: {
        of: decision.eventId,
        decision: decision.kind,
        disabling: last.eventId,
        until: last.until?.toISOString() ?? null,
        appeal_id: decision.kind === 'disabled' ? openAppealOf(last) : null,
      },
      personal: null,
    },
  ];
}

function evolve(state: MembershipState, event: RecordedEvent<DisablingEvents>): MembershipState {
  return { version: event.stream_version, last: evolveDisabling(state.last, event) };
}

function evolveDisabling(
  last: Disabling | null,
  event: RecordedEvent<DisablingEvents>,
): Disabling | null {
  const decision: Decision = {
    eventId: event.event_id,
    moderatorId: event.actor.type === 'moderator' ? (event.actor.id ?? null) : null,
    at: event.recorded_at,
  };
  if (event.type === 'MemberDisabled') {
    const { until } = event.data;
    return { ...decision, until: until ? new Date(until) : null, lifted: null, appeal: null };
  }
  if (!last) return null;
  switch (event.type) {
    case 'MemberEnabled':
      return {
        ...last,
        lifted: { ...decision, kind: 'enabled' },
        appeal: settled(last, event.data.appeal_id, 'granted', decision),
      };
    case 'MemberAppealed':
      return {
        ...last,
        appeal: { id: event.data.appeal_id, state: 'open', decision: null },
      };
    case 'MemberAppealGranted':
      return {
        ...last,
        lifted: { ...decision, kind: 'granted' },
        appeal: settled(last, event.data.appeal_id, 'granted', decision),
      };
    case 'MemberAppealUpheld':
      return { ...last, appeal: settled(last, event.data.appeal_id, 'upheld', decision) };
    case 'MemberDecisionUndone':
      if (event.data.decision === 'disabled')
        return {
          ...last,
          lifted: { ...decision, kind: 'undone' },
          appeal: settled(last, event.data.appeal_id, 'granted', decision),
        };
      return { ...last, lifted: null, appeal: reopened(last, event.data.of) };
  }
}

function settled(
  { appeal: made }: Disabling,
  appealId: string | null,
  state: AppealState,
  decision: Decision,
): Appeal | null {
  return made && made.id === appealId ? { ...made, state, decision } : made;
}

/** An appeal that the undone decision settled is open again. */
function reopened({ appeal: made }: Disabling, of: string): Appeal | null {
  return made?.decision?.eventId === of ? { ...made, state: 'open', decision: null } : made;
}
