import * as events from '../../domain/disabling/events.ts';
import * as membership from '../../domain/membership/events.ts';
import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { defineProjection, type EventOf } from '../projection.ts';

const insertAppeal = defineInsert('member_appeals', {
  appeal_id: 'uuid',
  member_id: 'uuid',
  of: 'uuid',
  text: 'text',
  state: 'text',
  opened_at: 'timestamptz',
});

type Settling = EventOf<
  typeof events,
  'MemberEnabled' | 'MemberAppealGranted' | 'MemberAppealUpheld' | 'MemberDecisionUndone'
>;

function settle({ event_id, data, personal, actor, recorded_at }: Settling, state: string): Sql {
  return sql`UPDATE member_appeals SET state = ${state}, settled_by = ${event_id},
    decided_at = ${recorded_at}, decided_by = ${actor.type === 'moderator' ? (actor.id ?? null) : null},
    message = ${personal?.message ?? null} WHERE appeal_id = ${data.appeal_id}`;
}

const moot = ({ owner_id }: { owner_id: string }): Sql =>
  sql`UPDATE member_appeals SET state = 'moot' WHERE member_id = ${owner_id} AND state = 'open'`;

/** Appeals of members against the disabling of their membership, and the outcomes. */
export const memberAppeals = defineProjection(
  { ...events, ...membership },
  {
    name: 'member-appeals',
    tables: ['member_appeals'],
    texts: [{ table: 'member_appeals', columns: ['text', 'message'], member: 'member_id' }],
    on: {
      MemberAppealed: ({ owner_id, data, personal, recorded_at }) =>
        insertAppeal({
          appeal_id: data.appeal_id,
          member_id: owner_id,
          of: data.of,
          text: personal?.text,
          state: 'open',
          opened_at: recorded_at,
        }),
      MemberAppealGranted: (event) => settle(event, 'granted'),
      MemberAppealUpheld: (event) => settle(event, 'upheld'),
      MemberEnabled: (event) => (event.data.appeal_id === null ? [] : settle(event, 'granted')),
      MemberDecisionUndone: (event) => {
        if (event.data.decision !== 'disabled') return reopen(event);
        return event.data.appeal_id === null ? [] : settle(event, 'granted');
      },
      // An appeal against an earlier disabling, whose time passed before anybody answered.
      MemberDisabled: moot,
      MemberDeactivated: moot,
    },
  },
);

/** Opens the appeal that the undone decision settled. */
function reopen({ owner_id, data }: EventOf<typeof events, 'MemberDecisionUndone'>): Sql {
  return sql`UPDATE member_appeals SET state = 'open', settled_by = NULL, decided_at = NULL,
    decided_by = NULL, message = NULL WHERE member_id = ${owner_id}
    AND settled_by = ${data.of}`;
}

export interface AppealOfMembership {
  appeal_id: string;
  of: string;
  text: string | null;
  state: 'open' | 'granted' | 'upheld' | 'moot';
  opened_at: Date;
  decided_at: Date | null;
  message: string | null;
  /** `opened_at` to the microsecond. */
  at: string;
}

/** Reads a member's appeals against disablings after `last`, oldest first. */
export function appealsAgainstDisablings(
  memberId: string,
  last: Pick<AppealOfMembership, 'at' | 'appeal_id'> | undefined,
  limit: number,
  undoSeconds: number,
): Sql<AppealOfMembership> {
  return sql`SELECT appeal_id, of, text, opened_at, opened_at::text AS at,
      CASE WHEN known THEN state ELSE 'open' END AS state,
      CASE WHEN known THEN decided_at END AS decided_at, CASE WHEN known THEN message END AS message
    FROM member_appeals CROSS JOIN LATERAL (SELECT decided_at IS NULL OR
        decided_at + make_interval(secs => ${undoSeconds}::int) <= now() AS known) k
    WHERE member_id = ${memberId}::uuid AND (opened_at, appeal_id) >
      (${last?.at ?? START_OLDEST.at}::timestamptz, ${last?.appeal_id ?? START_OLDEST.id}::uuid)
    ORDER BY opened_at, appeal_id LIMIT ${limit}`;
}

/** An open appeal, for those who decide it. */
export interface OpenAppealRow
  extends Pick<AppealOfMembership, 'appeal_id' | 'text' | 'opened_at'> {
  member_id: string;
  handle: string;
  policy: string | null;
  /** The name of the lead who disabled the membership; null: the operator. */
  disabled_by: string | null;
}

/**
 * SQL that selects the open appeals `a` against disablings that are in force. It ends with its condition, so
 * that more of it can follow.
 */
export const OPEN_APPEALS = `SELECT a.member_id, a.opened_at, d.moderator_id AS disabled_by
  FROM member_appeals a JOIN members m ON m.member_id = a.member_id
    JOIN member_decisions d ON d.event_id = a.of
  WHERE a.state = 'open' AND m.disabled_until > clock_timestamp()`;

/** Reads the open appeals against disablings that are in force, oldest first. */
export function openAppeals(limit: number): Sql<OpenAppealRow> {
  return sql`SELECT a.appeal_id, a.member_id, m.handle, a.text, a.opened_at, d.policy,
      l.name AS disabled_by
    FROM member_appeals a JOIN members m ON m.member_id = a.member_id
      JOIN member_decisions d ON d.event_id = a.of
      LEFT JOIN moderators l ON l.moderator_id = d.moderator_id
    WHERE a.state = 'open' AND m.disabled_until > clock_timestamp()
    ORDER BY a.opened_at, a.member_id LIMIT ${limit}`;
}
