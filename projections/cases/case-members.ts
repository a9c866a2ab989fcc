import { defineInsert } from '../../platform/batch-statements.ts';
import { factsOfStreams, readFacts } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type DependentLoad, loadAfter } from '../../platform/eventstore/load.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import * as events from '../../services/cases/events.ts';
import { defineProjection } from '../projection.ts';

const insertCaseMember = defineInsert(
  'case_members',
  { case_id: 'uuid', member_id: 'uuid' },
  { key: ['case_id', 'member_id'], conflict: 'DO NOTHING' },
);

/** Members involved in a case: all who opened, claimed, submitted, reviewed or noted. */
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

/** The members whom a command on the case may affect; the caller may be another member. */
export function membersOfCase(caseId: string): Sql<{ member_id: string }> {
  return sql`SELECT member_id FROM case_members WHERE case_id = ${caseId}`;
}

/** The active members involved in a case; only they read a feed. */
export function livingMembersOfCase(caseId: string): Sql<{ member_id: string }> {
  return sql`SELECT c.member_id FROM case_members c
    JOIN members m ON m.member_id = c.member_id AND m.state = 'active'
    WHERE c.case_id = ${caseId} ORDER BY c.member_id`;
}

/** The active members involved in a case. */
export interface CaseMembers {
  case_id: string;
  members: readonly string[];
}

/** Reads the events of a case for a decision, oldest first, without their personal data. */
export function caseFacts(caseId: string): DependentLoad<Sql<RecordedEvent> | null> {
  const author = sql<{ author_id: string }>`SELECT author_id FROM cases WHERE case_id = ${caseId}`;
  return loadAfter(author, ([row]) =>
    row ? readFacts(memberOwner(row.author_id), `case-${caseId}`) : null,
  );
}

export interface HeldCase {
  case_id: string;
  author_id: string;
}

/**
 * The cases that end with the account of member $1, at most $2: unfinished own cases and claims.
 */
const HELD = `SELECT case_id, author_id FROM cases
  WHERE (author_id = $1 AND state IN ('open', 'claimed', 'submitted')) OR claimant_id = $1
  ORDER BY case_id LIMIT $2`;

/** All members involved in those cases. */
export function membersOfCasesHeld(memberId: string, limit: number): Sql<{ member_id: string }> {
  return named(
    `SELECT member_id FROM case_members WHERE case_id IN (SELECT case_id FROM (${HELD}) held)`,
    [memberId, limit],
  );
}

/** The active members involved in those cases, by case. */
export function livingMembersOfCasesHeld(memberId: string, limit: number): Sql<CaseMembers> {
  return named(
    `SELECT c.case_id, array_agg(m.member_id ORDER BY m.member_id) AS members
    FROM (${HELD}) c JOIN case_members p ON p.case_id = c.case_id
    JOIN members m ON m.member_id = p.member_id AND m.state = 'active'
    GROUP BY c.case_id ORDER BY c.case_id`,
    [memberId, limit],
  );
}

/** The cases that end with the account of a member, under the locks. */
export function casesHeld(memberId: string, limit: number): Sql<HeldCase> {
  return named(HELD, [memberId, limit]);
}

/**
 * Reads the events of those cases, oldest first in each case, without their personal data: one
 * statement per author.
 */
export function factsOfCasesHeld(
  memberId: string,
  limit: number,
): DependentLoad<Sql<RecordedEvent>[]> {
  return loadAfter(casesHeld(memberId, limit), (cases) =>
    [...Map.groupBy(cases, ({ author_id }) => author_id)].map(([author, own]) =>
      factsOfStreams(
        memberOwner(author),
        own.map(({ case_id }) => `case-${case_id}`),
      ),
    ),
  );
}
