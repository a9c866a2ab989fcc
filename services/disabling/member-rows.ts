import { locking, named, type Sql } from '../../platform/sql.ts';
import { OPEN_APPEALS } from '../../projections/disabling/member-appeals.ts';
import type { ClaimableMember } from '../moderation/membership-review.ts';
import { HOLDER_COLUMNS, joinHolder } from '../moderation/queue/claim-body.ts';
import type { MemberItemRow } from '../moderation/queue/member-item.ts';

const DISABLED = 'coalesce(m.disabled_until > clock_timestamp(), false)';

/** The version of a membership's stream: each event is a decision, the undo of one, or an appeal. */
const VERSION = `((SELECT count(*) + count(undone_at) FROM member_decisions WHERE member_id = m.member_id)
  + (SELECT count(*) FROM member_appeals WHERE member_id = m.member_id))::int`;

const decisionJson = (
  more = '',
) => `json_build_object('event_id', d.event_id, 'decision', d.decision,
  'policy', d.policy, 'message', d.message, 'moderator_id', d.moderator_id,
  'moderator_name', l.name, 'decided_at', d.decided_at${more})`;

const newestDecision = (where: string) => `FROM member_decisions d
  LEFT JOIN moderators l ON l.moderator_id = d.moderator_id
  WHERE d.member_id = m.member_id AND ${where} ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1`;

/** Reads the memberships that have not ended. */
export const memberItems = (memberIds: readonly string[]): Sql<MemberItemRow> =>
  named(
    `SELECT m.member_id, m.handle, m.registered_at, ${DISABLED} AS disabled,
      ${VERSION} AS version, ${HOLDER_COLUMNS}, last.row AS disabling, decision.row AS decision,
      (SELECT json_build_object('appeal_id', a.appeal_id, 'state', a.state, 'text', a.text,
          'opened_at', a.opened_at) FROM member_appeals a
        WHERE a.member_id = m.member_id AND a.of = last.event_id) AS appeal,
      clock_timestamp() AS now
    FROM members m ${joinHolder(`'member'`, 'm.member_id')}
    LEFT JOIN LATERAL (SELECT CASE WHEN undone_at IS NULL THEN event_id END AS event_id,
        CASE WHEN undone_at IS NULL THEN row END AS row
      FROM (SELECT d.event_id, d.undone_at, ${decisionJson(`, 'until', d.until`)} AS row
        ${newestDecision(`d.decision = 'disabled'`)}) newest) last ON true
    LEFT JOIN LATERAL (SELECT ${decisionJson()} AS row
      ${newestDecision('d.of = last.event_id AND d.undone_at IS NULL')}) decision ON true
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
