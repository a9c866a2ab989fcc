import {
  appealRefusal,
  type MembershipState,
  undoMemberRefusal,
} from '../../domain/disabling/disabling.ts';
import { LEADS } from '../../domain/moderation/roles.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { claimBody } from '../moderation/queue/claim-body.ts';
import type { ReviewingModerator } from '../moderation/queue/decision-body.ts';
import {
  MEMBER_ACTIONS,
  type MemberDecisionJson,
  type MemberItem,
  type MemberItemRow,
} from '../moderation/queue/member-item.ts';

const time = (at: Date | string): string => new Date(at).toISOString();

/** A membership as a lead sees it, with the lead's allowed actions. */
export function memberItemBody(row: MemberItemRow, reviewer: ReviewingModerator): MemberItem {
  const { disabling, appeal, decision, member_id: id } = row;
  const received = appeal ? new Date(appeal.opened_at) : row.registered_at;
  return {
    id,
    subject: { type: 'member', id },
    state: row.disabled ? 'disabled' : 'enabled',
    text: appeal?.text ?? '',
    author: { kind: 'member', name: row.handle ?? '', member_id: id },
    received_at: time(received),
    age_seconds: Math.max(0, Math.floor((row.now.getTime() - received.getTime()) / 1000)),
    version: row.version,
    claim: claimBody(row, reviewer.me),
    disabling: disabling && {
      event_id: disabling.event_id,
      policy: disabling.policy ?? '',
      message: disabling.message,
      moderator: moderatorOf(disabling),
      since: time(disabling.decided_at),
      until: disabling.until && time(disabling.until),
    },
    appeal: appeal && {
      id: appeal.appeal_id,
      state: appeal.state,
      text: appeal.text ?? '',
      opened_at: time(appeal.opened_at),
    },
    decision: decision && decisionOf(row, decision, reviewer),
    allowed_actions: mayDecide(row, reviewer) ? [...MEMBER_ACTIONS] : [],
  };
}

const moderatorOf = ({ moderator_id: id, moderator_name: name }: MemberDecisionJson) =>
  id === null ? null : { id, name: name ?? '' };

/** The member reads a decision at `/api/membership/disabled` once its undo window is over. */
function decisionOf(
  row: MemberItemRow,
  decision: MemberDecisionJson,
  { me, undoSeconds }: ReviewingModerator,
): MemberItem['decision'] {
  const { event_id, decided_at } = decision;
  const { now } = row;
  const until = notifiedAt(new Date(decided_at), undoSeconds);
  const refused = undoMemberRefusal(stateOf(row), { of: event_id, me, undoSeconds, now });
  return {
    event_id,
    decision: decision.decision,
    policy: decision.policy,
    message: decision.message,
    moderator: moderatorOf(decision),
    decided_at: time(decided_at),
    undo_allowed: refused === null,
    undo_until: time(until),
    told_at: until <= now ? time(until) : null,
  };
}

function mayDecide(row: MemberItemRow, { me }: ReviewingModerator): boolean {
  const heldByOther = row.holder_id !== null && row.holder_id !== me.moderatorId;
  const { moderatorId } = me;
  const refused = appealRefusal(stateOf(row), { moderatorId, now: row.now });
  return LEADS.includes(me.role) && !heldByOther && refused === null;
}

/** The state of the decider, so that buttons and decisions follow one rule; a decision replays the events. */
function stateOf({ version, disabling, decision, appeal }: MemberItemRow): MembershipState {
  if (!disabling) return { version, last: null };
  const made = decision && {
    eventId: decision.event_id,
    moderatorId: decision.moderator_id,
    at: new Date(decision.decided_at),
  };
  const kind = decision?.decision;
  const lifted = made && (kind === 'enabled' || kind === 'granted') ? { ...made, kind } : null;
  const decided = appeal && appeal.state !== 'moot' && appeal.state !== 'open' ? made : null;
  return {
    version,
    last: {
      eventId: disabling.event_id,
      moderatorId: disabling.moderator_id,
      at: new Date(disabling.decided_at),
      until: disabling.until === null ? null : new Date(disabling.until),
      lifted,
      appeal:
        appeal && appeal.state !== 'moot'
          ? { id: appeal.appeal_id, state: appeal.state, decision: decided }
          : null,
    },
  };
}
