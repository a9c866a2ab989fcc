import * as events from '../../domain/cases/events.ts';
import { memberOwner } from '../../domain/owners.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type DependentLoad, loadAfter } from '../../platform/eventstore/load.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';

const setCaseMember = defineInsert(
  'case_members',
  { case_id: 'uuid', member_id: 'uuid', took_part_at: 'timestamptz' },
  {
    key: ['case_id', 'member_id'],
    conflict: 'DO UPDATE SET took_part_at = excluded.took_part_at',
  },
);

/**
 * Members involved in a case: all who opened, claimed, submitted, reviewed or noted, and when they
 * last did so.
 */
export const caseMembers = defineProjection(events, {
  name: 'case-members',
  tables: ['case_members'],
  on: {
    CaseOpened: ({ data, recorded_at }) => takesPart(data.case_id, data.author_id, recorded_at),
    CaseClaimed: ({ data, recorded_at }) => takesPart(data.case_id, data.member_id, recorded_at),
    CaseSubmitted: ({ data, recorded_at }) => takesPart(data.case_id, data.member_id, recorded_at),
    CaseReviewed: ({ data, recorded_at }) => takesPart(data.case_id, data.member_id, recorded_at),
    CaseNoted: ({ owner_id, data, recorded_at }) => takesPart(data.case_id, owner_id, recorded_at),
  },
});

function takesPart(caseId: string, memberId: string, at: Date): Sql {
  return setCaseMember({ case_id: caseId, member_id: memberId, took_part_at: at });
}

/** The events of a case appear in the feeds of at most so many members who took part in it. */
const MAX_CONCERNED = 200;

/**
 * The author of a case, its claimant, and those who took part in it last. `OFFSET 0` keeps the claimant from a plan that
 * reads an index of all claimed cases.
 */
const concernedBy = (caseId: string) => `SELECT author_id AS member_id FROM cases
    WHERE case_id = ${caseId}
  UNION SELECT claimant_id FROM (SELECT claimant_id FROM cases WHERE case_id = ${caseId} OFFSET 0) claimed
    WHERE claimant_id IS NOT NULL
  UNION (SELECT member_id FROM case_members WHERE case_id = ${caseId}
    ORDER BY took_part_at DESC, member_id LIMIT ${MAX_CONCERNED})`;

const CONCERNED = concernedBy('$1');
const LIVING = `SELECT member_id FROM (${CONCERNED}) c
  CROSS JOIN LATERAL (SELECT state FROM members m WHERE m.member_id = c.member_id OFFSET 0) m
  WHERE m.state = 'active' ORDER BY member_id`;

/** The members whom a command on the case may affect; the caller may be another member. */
export function membersOfCase(caseId: string): Sql<{ member_id: string }> {
  return named(CONCERNED, [caseId]);
}

/** The active ones of the members whom the events of a case concern; only they read a feed. */
export function livingMembersOfCase(caseId: string): Sql<{ member_id: string }> {
  return named(LIVING, [caseId]);
}

/** The active members whom the events of a case concern. */
export interface CaseMembers {
  case_id: string;
  members: readonly string[];
}

/** Reads the events of a case for a decision with `read`, which gets the owner and name of its stream. */
export function caseFacts(
  caseId: string,
  read: (owner: Owner<'member'>, stream: string) => Sql<RecordedEvent>,
): DependentLoad<Sql<RecordedEvent> | null> {
  const author = sql<{ author_id: string }>`SELECT author_id FROM cases WHERE case_id = ${caseId}`;
  return loadAfter(author, ([row]) =>
    row ? read(memberOwner(row.author_id), `case-${caseId}`) : null,
  );
}

export interface HeldCase {
  case_id: string;
  author_id: string;
  version: number;
  removed: boolean;
}

/** The cases of others that the member $1 has claimed, at most $2. */
const CLAIMED = `SELECT case_id, author_id, version, removed FROM cases
  WHERE claimant_id = $1 AND author_id <> $1 LIMIT $2`;

/** The cases that end with the account of member $1, at most $2: claims, then the newest own cases. */
const HELD = `SELECT * FROM ((${CLAIMED})
    UNION ALL (SELECT case_id, author_id, version, removed FROM cases WHERE author_id = $1 AND NOT author_gone
      ORDER BY created_at DESC, case_id DESC LIMIT $2)) held LIMIT $2`;

/** Reads cases that the member $1 holds, at most $2, for what ends them. */
const readsOf = (held: string) => ({
  /** The cases, under the locks. */
  cases: (memberId: string, limit: number): Sql<HeldCase> => named(held, [memberId, limit]),

  /** All members whom the events of the cases concern. */
  concerned: (memberId: string, limit: number): Sql<{ member_id: string }> =>
    named(
      `SELECT c.member_id FROM (${held}) held
      CROSS JOIN LATERAL (${concernedBy('held.case_id')} OFFSET 0) c`,
      [memberId, limit],
    ),

  /** The active ones of those members, by case. */
  living: (memberId: string, limit: number): Sql<CaseMembers> =>
    named(
      `SELECT c.case_id, array_agg(m.member_id ORDER BY m.member_id) AS members
      FROM (${held}) c CROSS JOIN LATERAL (${concernedBy('c.case_id')} OFFSET 0) p
      CROSS JOIN LATERAL (SELECT member_id, state FROM members
        WHERE member_id = p.member_id OFFSET 0) m
      WHERE m.state = 'active' GROUP BY c.case_id ORDER BY c.case_id`,
      [memberId, limit],
    ),

  /** The events of the cases for a decision with `read`: one statement per author. */
  facts: (
    memberId: string,
    limit: number,
    read: (owner: Owner<'member'>, streams: readonly string[]) => Sql<RecordedEvent>,
  ): DependentLoad<Sql<RecordedEvent>[]> =>
    loadAfter(named<HeldCase>(held, [memberId, limit]), (cases) =>
      [...Map.groupBy(cases, ({ author_id }) => author_id)].map(([author, own]) =>
        read(
          memberOwner(author),
          own.map(({ case_id }) => `case-${case_id}`),
        ),
      ),
    ),
});

export const casesHeld = readsOf(HELD);
export const casesClaimed = readsOf(CLAIMED);
