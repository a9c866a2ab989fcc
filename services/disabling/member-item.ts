import {
  appealRefusal,
  type MembershipState,
  undoMemberRefusal,
} from '../../domain/disabling/disabling.ts';
import { LEADS } from '../../domain/moderation/roles.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { locking, named, type Sql } from '../../platform/sql.ts';
import { OPEN_APPEALS } from '../../projections/disabling/member-appeals.ts';
import { claimBody, type ReviewingModerator } from '../moderation/queue/item-parts.ts';
import {
  MEMBER_ACTIONS,
  type MemberDecisionJson,
  type MemberItem,
  type MemberItemRow,
} from '../moderation/queue/member-item.ts';
import type { ClaimableMember } from '../moderation/queue/membership-review.ts';
import { isLiveLease } from '../publications/review-leases.ts';

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

const DISABLED = 'coalesce(m.disabled_until > clock_timestamp(), false)';

/** The version of a membership's stream: each event is a decision, the undo of one, or an appeal. */
const VERSION = `((SELECT count(*) + count(undone_at) FROM member_decisions WHERE member_id = m.member_id)
  + (SELECT count(*) FROM member_appeals WHERE member_id = m.member_id))::int`;

/**
 * Reads the memberships that have not ended, each with its last disabling unless that was undone, the appeal against it,
 * and the decision that ended it or answered the appeal.
 */
export const memberItems = (memberIds: readonly string[]): Sql<MemberItemRow> =>
  named(
    `SELECT m.member_id, m.handle, m.registered_at, ${DISABLED} AS disabled, ${VERSION} AS version,
      l.lease_id, l.moderator_id AS holder_id, h.name AS holder_name, l.claimed_at, l.expires_at,
      last.row AS disabling, decision.row AS decision,
      (SELECT json_build_object('appeal_id', a.appeal_id, 'state', a.state, 'text', a.text,
          'opened_at', a.opened_at) FROM member_appeals a
        WHERE a.member_id = m.member_id AND a.of = last.event_id) AS appeal,
      clock_timestamp() AS now
    FROM members m
    LEFT JOIN note_leases l ON l.note_id = m.member_id AND l.subject_type = 'member'
      AND ${isLiveLease('l')}
    LEFT JOIN moderators h ON h.moderator_id = l.moderator_id
    LEFT JOIN LATERAL (
      SELECT CASE WHEN undone_at IS NULL THEN event_id END AS event_id,
        CASE WHEN undone_at IS NULL THEN row END AS row
      FROM (SELECT d.event_id, d.undone_at, json_build_object('event_id', d.event_id,
          'decision', d.decision, 'policy', d.policy, 'message', d.message,
          'moderator_id', d.moderator_id, 'moderator_name', dm.name,
          'decided_at', d.decided_at, 'until', d.until) AS row
        FROM member_decisions d LEFT JOIN moderators dm ON dm.moderator_id = d.moderator_id
        WHERE d.member_id = m.member_id AND d.decision = 'disabled'
        ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1) newest) last ON true
    LEFT JOIN LATERAL (
      SELECT json_build_object('event_id', d.event_id, 'decision', d.decision,
        'policy', d.policy, 'message', d.message, 'moderator_id', d.moderator_id,
        'moderator_name', dm.name, 'decided_at', d.decided_at) AS row
      FROM member_decisions d LEFT JOIN moderators dm ON dm.moderator_id = d.moderator_id
      WHERE d.member_id = m.member_id AND d.of = last.event_id AND d.undone_at IS NULL
      ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1) decision ON true
    WHERE m.member_id = ANY($1::uuid[]) AND m.state = 'active' ORDER BY m.member_id`,
    [memberIds],
  );

/** Locks the open appeals of these members. */
export const lockAppeals = (memberIds: readonly string[]): Sql =>
  locking(
    named(
      `SELECT FROM member_appeals WHERE member_id = ANY($1::uuid[]) AND state = 'open'
        ORDER BY member_id FOR UPDATE`,
      [memberIds],
    ),
  );

/** Reads memberships as a claim finds them. */
export const claimableMembers = (memberIds: readonly string[]): Sql<ClaimableMember> =>
  named(
    `SELECT m.member_id AS id, CASE WHEN ${DISABLED} THEN 'disabled' ELSE 'enabled' END AS state,
      ${VERSION} AS version, EXISTS (${OPEN_APPEALS} AND a.member_id = m.member_id) AS appealed
    FROM members m WHERE m.member_id = ANY($1::uuid[]) AND m.state = 'active'`,
    [memberIds],
  );

/** Counts the open appeals by the lead who disabled the membership. */
export const appealsByDecider = (): Sql<{ moderator_id: string | null; count: number }> =>
  named(`SELECT disabled_by AS moderator_id, count(*)::int AS count FROM (${OPEN_APPEALS}) appeal
    GROUP BY disabled_by`);
