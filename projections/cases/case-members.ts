import { defineInsert } from '../../platform/batch-statements.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import * as events from '../../services/cases/events.ts';
import { defineProjection } from '../projection.ts';

const insertCaseMember = defineInsert(
  'case_members',
  { case_id: 'uuid', member_id: 'uuid' },
  { key: ['case_id', 'member_id'], action: 'DO NOTHING' },
);

/** Whom a case concerns: all who opened, claimed, submitted, reviewed or noted. */
export const caseMembers = defineProjection(events, {
  name: 'case-members',
  tables: ['case_members'],
  on: {
    CaseOpened: ({ data }) => joins(data.case_id, data.author_id),
    CaseClaimed: ({ data }) => joins(data.case_id, data.member_id),
    CaseReviewed: ({ data }) => joins(data.case_id, data.member_id),
    CaseNoted: ({ owner_id, data }) => joins(data.case_id, owner_id),
  },
});

function joins(caseId: string, memberId: string): Sql {
  return insertCaseMember({ case_id: caseId, member_id: memberId });
}

/** Every command on a case waits here for the one before, which may bring another member in. */
export function caseGate(caseId: string): Sql {
  return sql`SELECT FROM case_members WHERE case_id = ${caseId}
      AND member_id = (SELECT author_id FROM cases WHERE case_id = ${caseId}) FOR UPDATE`;
}

/** For a lock: whoever a command on the case may concern, the caller apart. */
export function membersOfCase(caseId: string): Sql {
  return sql`SELECT member_id FROM case_members WHERE case_id = ${caseId}`;
}

/** Those of them who are members still: nobody else reads a feed. */
export function livingMembersOfCase(caseId: string): Sql<{ member_id: string }> {
  return sql`SELECT c.member_id FROM case_members c
    JOIN members m ON m.member_id = c.member_id AND m.state = 'active'
    WHERE c.case_id = ${caseId} ORDER BY c.member_id`;
}

/** The living members whom a case concerns. */
export interface CaseMembers {
  case_id: string;
  members: readonly string[];
}

/** A case's own stream, oldest first, without its texts: what a decision looks at. */
export function caseFacts(caseId: string): Sql<RecordedEvent> {
  return sql`SELECT e.owner_id, e.stream_id, e.stream_version, e.position, e.event_id, e.type,
      e.data, NULL AS personal, e.actor, e.recorded_at
    FROM cases c
    JOIN events e ON e.owner_id = c.author_id AND e.stream_id = 'case-' || c.case_id
    WHERE c.case_id = ${caseId} ORDER BY e.stream_version`;
}

/** What the end of a member's account, $1, ends: unfinished cases of its own and claimed ones, so many. */
const HELD = `SELECT case_id, author_id FROM cases
  WHERE (author_id = $1 AND state IN ('open', 'claimed', 'submitted')) OR claimant_id = $1
  ORDER BY case_id LIMIT $2`;

/** For a lock: everybody whom that concerns. */
export function membersOfCasesHeld(memberId: string, limit: number): Sql {
  return named(
    `SELECT member_id FROM case_members WHERE case_id IN (SELECT case_id FROM (${HELD}) held)`,
    [memberId, limit],
  );
}

/** Those of them who are members still, for each case. */
export function livingMembersOfCasesHeld(memberId: string, limit: number): Sql<CaseMembers> {
  return named(
    `SELECT c.case_id, array_agg(m.member_id ORDER BY m.member_id) AS members
    FROM (${HELD}) c JOIN case_members p ON p.case_id = c.case_id
    JOIN members m ON m.member_id = p.member_id AND m.state = 'active'
    GROUP BY c.case_id ORDER BY c.case_id`,
    [memberId, limit],
  );
}

/** The streams of those cases, each oldest first. */
export function factsOfCasesHeld(memberId: string, limit: number): Sql<RecordedEvent> {
  return named(
    `SELECT e.owner_id, e.stream_id, e.stream_version, e.position, e.event_id, e.type,
      e.data, NULL AS personal, e.actor, e.recorded_at
    FROM (${HELD}) c
    JOIN events e ON e.owner_id = c.author_id AND e.stream_id = 'case-' || c.case_id
    ORDER BY e.stream_id, e.stream_version`,
    [memberId, limit],
  );
}
