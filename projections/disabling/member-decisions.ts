import * as events from '../../domain/disabling/events.ts';
import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { defineProjection, type EventOf } from '../projection.ts';

type MemberDecision = EventOf<
  typeof events,
  'MemberDisabled' | 'MemberEnabled' | 'MemberAppealGranted' | 'MemberAppealUpheld'
>;

const insertDecision = defineInsert('member_decisions', {
  event_id: 'uuid',
  member_id: 'uuid',
  moderator_id: 'uuid',
  decision: 'text',
  of: 'uuid',
  policy: 'text',
  message: 'text',
  until: 'timestamptz',
  decided_at: 'timestamptz',
  claimed_at: 'timestamptz',
});

function decided(event: MemberDecision, decision: MemberDecisionRow['decision']): Sql {
  const { event_id, owner_id, actor, data, personal, recorded_at } = event;
  return insertDecision({
    event_id,
    member_id: owner_id,
    moderator_id: actor.type === 'moderator' ? actor.id : null,
    decision,
    of: 'of' in data ? data.of : event_id,
    policy: 'policy' in data ? data.policy : null,
    message: personal?.message,
    until: 'until' in data ? data.until : null,
    decided_at: recorded_at,
    claimed_at: 'claimed_at' in data ? data.claimed_at : null,
  });
}

/** Decisions on memberships; an undo finds its member here. */
export const memberDecisions = defineProjection(events, {
  name: 'member-decisions',
  tables: ['member_decisions'],
  texts: [{ table: 'member_decisions', columns: ['message'], member: 'member_id' }],
  on: {
    MemberDisabled: (event) => decided(event, 'disabled'),
    MemberEnabled: (event) => decided(event, 'enabled'),
    MemberAppealGranted: (event) => decided(event, 'granted'),
    MemberAppealUpheld: (event) => decided(event, 'upheld'),
    MemberDecisionUndone: ({ data, recorded_at }) =>
      sql`UPDATE member_decisions SET undone_at = ${recorded_at} WHERE event_id = ${data.of}`,
  },
});

export interface MemberDecisionRow {
  event_id: string;
  member_id: string;
  moderator_id: string | null;
  decision: 'disabled' | 'enabled' | 'granted' | 'upheld';
  policy: string | null;
  message: string | null;
  until: Date | null;
  decided_at: Date;
  undone_at: Date | null;
}

export function findMemberDecision(eventId: string): Sql<MemberDecisionRow> {
  return sql`SELECT * FROM member_decisions WHERE event_id = ${eventId}`;
}

/** The times of a moderator's disablings within the last hour, oldest first. */
export function disablingsWithinHour(moderatorId: string): Sql<{ decided_at: Date }> {
  return sql`SELECT decided_at FROM member_decisions WHERE moderator_id = ${moderatorId}::uuid
    AND decision = 'disabled' AND decided_at > clock_timestamp() - interval '1 hour'
    ORDER BY decided_at`;
}

/** Whether a member has an open appeal against a decision of this moderator on a note. */
export function appealsAgainst(memberId: string, moderatorId: string): Sql<{ appeal_id: string }> {
  return sql`SELECT appeal_id FROM note_appeals a JOIN notes n ON n.note_id = a.note_id
    WHERE a.member_id = ${memberId}::uuid AND a.state = 'open'
      AND n.settled_by = ${moderatorId}::uuid LIMIT 1`;
}

/** A disabling as its member may know it. */
export interface KnownDisabling {
  event_id: string;
  decided_at: Date;
  until: Date | null;
  /** Whether the undo window is over: before that the member does not know the reason. */
  told: boolean;
  policy: string | null;
  title: string | null;
  message: string | null;
  appeal: {
    id: string;
    state: 'open' | 'granted' | 'upheld' | 'moot';
    text: string | null;
    opened_at: string;
    decided_at: string | null;
    message: string | null;
  } | null;
}

/** The latest disabling of a member that was not undone. */
export function latestDisabling(memberId: string, undoSeconds: number): Sql<KnownDisabling> {
  return sql`SELECT d.event_id, d.decided_at, d.until, d.policy, p.title, d.message,
      d.decided_at + make_interval(secs => ${undoSeconds}::int) <= clock_timestamp() AS told,
      (SELECT json_build_object('id', appeal_id, 'text', text, 'opened_at', opened_at,
          'state', CASE WHEN known THEN state ELSE 'open' END,
          'decided_at', CASE WHEN known THEN decided_at END,
          'message', CASE WHEN known THEN message END)
        FROM (SELECT *, decided_at IS NULL OR decided_at + make_interval(secs => ${undoSeconds}::int)
            <= clock_timestamp() AS known FROM member_appeals) a
        WHERE a.of = d.event_id AND a.member_id = d.member_id) AS appeal
    FROM member_decisions d LEFT JOIN policies p ON p.code = d.policy
    WHERE d.member_id = ${memberId}::uuid AND d.decision = 'disabled' AND d.undone_at IS NULL
    ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1`;
}

/** A disabling in an export, with its place in the order of the section. */
export interface ExportedDisablingRow {
  event_id: string;
  decided_at: Date;
  until: Date | null;
  lifted_at: Date | null;
  policy: string | null;
  message: string | null;
  /** `decided_at` to the microsecond. */
  at: string;
}

/** Reads a member's disablings after `last`, oldest first; without their reason in the undo window. */
export function disablingsOfMember(
  memberId: string,
  last: Pick<ExportedDisablingRow, 'at' | 'event_id'> | undefined,
  limit: number,
  undoSeconds: number,
): Sql<ExportedDisablingRow> {
  return sql`SELECT event_id, decided_at, until, decided_at::text AS at,
      coalesce(undone_at, (SELECT min(l.decided_at) FROM member_decisions l
        WHERE l.member_id = d.member_id AND l.of = d.event_id AND l.undone_at IS NULL
          AND l.decision IN ('enabled', 'granted'))) AS lifted_at,
      CASE WHEN told THEN policy END AS policy, CASE WHEN told THEN message END AS message
    FROM member_decisions d CROSS JOIN LATERAL (SELECT undone_at IS NULL
        AND decided_at + make_interval(secs => ${undoSeconds}::int) <= now() AS told) t
    WHERE member_id = ${memberId}::uuid AND decision = 'disabled' AND (decided_at, event_id) >
      (${last?.at ?? START_OLDEST.at}::timestamptz, ${last?.event_id ?? START_OLDEST.id}::uuid)
    ORDER BY decided_at, event_id LIMIT ${limit}`;
}
