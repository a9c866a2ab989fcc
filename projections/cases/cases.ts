import * as caseEvents from '../../domain/cases/events.ts';
import { lapsedSql, stateAsReadSql } from '../../domain/cases/lease.ts';
import * as membershipEvents from '../../domain/membership/events.ts';
import { type KeysetPosition, START_NEWEST } from '../../platform/keyset-cursor.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { toVector } from '../../platform/word-vector.ts';
import { stays } from '../membership/members.ts';
import { defineProjection } from '../projection.ts';
import { type OwnRow, ownRecords } from '../publications/record-decisions.ts';
import type { RecordRow } from '../publications/records.ts';
import { recordsTakenDown, type TakenDownRow } from '../taken-down.ts';

const insertCase = defineInsert('cases', {
  case_id: 'uuid',
  author_id: 'uuid',
  title: 'text',
  summary: 'text',
  objective: 'text',
  acceptance_criteria: 'text[]',
  words: 'text::tsvector',
  artifact_id: 'uuid',
  state: 'text',
  version: 'int',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
});

/** A change to the state, claim or removal of a case raises `version` and sets `updated_at`. */
export const cases = defineProjection(
  { ...caseEvents, MemberDeactivated: membershipEvents.MemberDeactivated } as const,
  {
    name: 'cases',
    tables: ['cases'],
    texts: [
      {
        table: 'cases',
        columns: ['title', 'summary', 'objective', 'acceptance_criteria', 'words'],
        member: 'author_id',
      },
    ],
    on: {
      CaseOpened: ({ data, personal, recorded_at: now }) =>
        insertCase({
          case_id: data.case_id,
          author_id: data.author_id,
          title: personal?.title,
          summary: personal?.summary,
          objective: personal?.objective,
          acceptance_criteria: personal?.acceptance_criteria,
          words: toVector([personal?.title, personal?.summary, personal?.objective]),
          artifact_id: data.artifact_id,
          state: 'open',
          version: 1,
          created_at: now,
          updated_at: now,
        }),
      CaseClaimed: ({ data, recorded_at }) => claimed(data, recorded_at),
      CaseLeaseExtended: ({ data, recorded_at }) => claimed(data, recorded_at),
      CaseReleased: ({ data, recorded_at }) => reopened(data.case_id, recorded_at),
      // Uses the end of the lease: the case reads the same before the log records the event.
      CaseLeaseEnded: ({ data }) => reopened(data.case_id, new Date(data.lease_expires_at)),
      CaseSubmitted: ({ data, recorded_at }) =>
        sql`UPDATE cases SET state = 'submitted', submission_id = ${data.submission_id},
            lease_expires_at = NULL, version = version + 1, updated_at = ${recorded_at}
          WHERE case_id = ${data.case_id}`,
      CaseAccepted: ({ data, recorded_at }) =>
        sql`UPDATE cases SET state = 'accepted', claimant_id = NULL, version = version + 1,
            updated_at = ${recorded_at}
          WHERE case_id = ${data.case_id}`,
      CaseReturned: ({ data, recorded_at }) => claimed(data, recorded_at),
      CaseRejected: ({ data, recorded_at }) => reopened(data.case_id, recorded_at),
      CaseWithdrawn: ({ data, recorded_at }) =>
        sql`UPDATE cases SET state = 'withdrawn', claimant_id = NULL, lease_expires_at = NULL,
            submission_id = NULL, version = version + 1, updated_at = ${recorded_at},
            withdrawn_at = ${recorded_at}
          WHERE case_id = ${data.case_id}`,
      CaseRemoved: ({ data, recorded_at }) => removed(data.case_id, true, recorded_at),
      CaseRestored: ({ data, recorded_at }) => removed(data.case_id, false, recorded_at),
      // `taken_down_at` of a removed case stays that of the removal.
      CaseAuthorLeft: ({ data, recorded_at }) =>
        sql`UPDATE cases SET author_gone = true,
            taken_down_at = coalesce(taken_down_at, ${recorded_at})
          WHERE case_id = ${data.case_id}`,
      // In an earlier release: the same for all cases of the author.
      MemberDeactivated: ({ owner_id, data, recorded_at }) =>
        data.in_batches
          ? []
          : sql`UPDATE cases SET author_gone = true,
              taken_down_at = coalesce(taken_down_at, ${recorded_at})
            WHERE author_id = ${owner_id}`,
    },
  },
);

interface Lease {
  case_id: string;
  member_id: string;
  lease_expires_at: string;
}

function claimed({ case_id, member_id, lease_expires_at }: Lease, now: Date): Sql {
  return sql`UPDATE cases SET state = 'claimed', claimant_id = ${member_id},
      lease_expires_at = ${lease_expires_at}, submission_id = NULL, version = version + 1,
      updated_at = ${now}
    WHERE case_id = ${case_id}`;
}

function reopened(caseId: string, now: Date): Sql {
  return sql`UPDATE cases SET state = 'open', claimant_id = NULL, lease_expires_at = NULL,
      submission_id = NULL, version = version + 1, updated_at = ${now}
    WHERE case_id = ${caseId}`;
}

function removed(caseId: string, is: boolean, now: Date): Sql {
  return sql`UPDATE cases SET removed = ${is}, version = version + 1, updated_at = ${now},
      taken_down_at = ${is ? now : null}
    WHERE case_id = ${caseId}`;
}

/** A case. Its texts are null after erasure. */
export interface CaseRow {
  case_id: string;
  author_id: string;
  title: string | null;
  summary: string | null;
  objective: string | null;
  acceptance_criteria: string[] | null;
  artifact_id: string | null;
  state: 'open' | 'claimed' | 'submitted' | 'accepted' | 'withdrawn';
  version: number;
  created_at: Date;
  updated_at: Date;
  claimant_id: string | null;
  lease_expires_at: Date | null;
  submission_id: string | null;
  removed: boolean;
  author_gone: boolean;
  /** Whether the lease has expired by the database's clock; see `domain/cases/lease.ts`. */
  lapsed: boolean;
  /** These four fields describe the submission that is under review or was accepted. */
  submitter_id: string | null;
  submission_summary: string | null;
  submission_artifact_id: string | null;
  submitted_at: Date | null;
}

/** A row of a page. `place` is `created_at` to the microsecond, for the cursor. */
export type ListedCaseRow = CaseRow & {
  place: string;
  /** Whether the case is not public any more, in a list of cases in any state. */
  hidden?: boolean;
};

const SUBMISSION = `s.member_id AS submitter_id,
  CASE WHEN ${stays('s.member_id')} THEN s.summary END AS submission_summary,
  s.artifact_id AS submission_artifact_id, s.created_at AS submitted_at`;

const LAPSED = lapsedSql('c');

/**
 * The columns of a case in a list: without the words of the search, and with the criteria as JSON, which the
 * driver reads in a tenth of the time of an array.
 */
const LISTED = [
  ...['case_id', 'author_id', 'title', 'summary', 'objective', 'artifact_id', 'state', 'version'],
  ...['created_at', 'updated_at', 'claimant_id', 'lease_expires_at', 'submission_id', 'removed'],
  'author_gone',
]
  .map((name) => `c.${name}`)
  .join(', ');

/** Finds a case in any state. */
export function findCase(caseId: string): Sql<CaseRow> {
  return {
    name: 'case',
    text: `SELECT c.*, ${LAPSED} AS lapsed, ${SUBMISSION},
        c.author_gone OR NOT (${stays('c.author_id')}) AS author_gone
      FROM cases c LEFT JOIN case_submissions s ON s.submission_id = c.submission_id
      WHERE c.case_id = $1`,
    values: [caseId],
  };
}

export interface CaseFilter {
  state?: CaseRow['state'] | undefined;
  author_id?: string | undefined;
  /** Only these cases. */
  ids?: readonly string[] | undefined;
}

/** Reads public cases, newest first. A claimed case whose lease has expired counts as open. */
export function publicCases(
  filter: CaseFilter,
  limit: number,
  { at, id }: KeysetPosition = START_NEWEST,
): Sql<ListedCaseRow> {
  const { state, author_id: author, ids } = filter;
  const values: unknown[] = [at, id, limit];
  if (ids) {
    const byId = `c.case_id IN (SELECT unnest($4::uuid[])) AND ${stays('c.author_id')}
      AND ($5::uuid IS NULL OR c.author_id = $5::uuid)
      AND ($6::text IS NULL OR ${stateAsReadSql('c').state} = $6::text)`;
    return page('of-ids', [...values, ids, author ?? null, state ?? null], [{ where: byId }]);
  }
  if (author !== undefined) {
    const own = `c.author_id = $4 AND ${stays('$4::uuid')}`;
    return state === undefined
      ? page('of-author', [...values, author], [{ where: own }])
      : page(
          'of-author-in-state',
          [...values, author, state],
          [{ where: `${own} AND ${stateAsReadSql('c').state} = $5` }],
        );
  }
  const listed = stays('c.author_id');
  if (state === undefined) return page('all', values, [{ where: listed }]);
  // As a range of the index by state: with `state = $4`, a plan may walk the newer cases in other states.
  const byState = {
    where: `${listed} AND c.state >= $4
      AND (c.state, c.created_at, c.case_id) < ($4, $1::timestamptz, $2::uuid) AND NOT (${LAPSED})`,
    order: 'c.state DESC,',
  };
  // An index finds the few cases whose expired lease the worker has yet to record.
  return state === 'open'
    ? page('open', [...values, state], [byState, { where: `${listed} AND ${LAPSED}` }])
    : page('in-state', [...values, state], [byState]);
}

/**
 * Reads the newest cases of all `parts` after a position; `order` is what an index has first. Each part
 * needs an index alone, and so reads no row of an author whose account was closed.
 */
function page(
  name: string,
  values: unknown[],
  parts: readonly { where: string; order?: string }[],
): Sql<ListedCaseRow> {
  const found = parts.map(
    ({ where, order = '' }) => `(SELECT c.case_id FROM cases c
      WHERE ${where} AND NOT c.removed AND NOT c.author_gone
        AND (c.created_at, c.case_id) < ($1::timestamptz, $2::uuid)
      ORDER BY ${order} c.created_at DESC, c.case_id DESC LIMIT $3)`,
  );
  return {
    name: `cases-${name}`,
    text: `SELECT ${LISTED}, to_json(c.acceptance_criteria) AS acceptance_criteria,
        ${LAPSED} AS lapsed, ${SUBMISSION},
        to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
      FROM (${found.join(' UNION ALL ')}) listed,
        LATERAL (SELECT * FROM cases WHERE case_id = listed.case_id OFFSET 0) c
      LEFT JOIN case_submissions s ON s.submission_id = c.submission_id
      ORDER BY c.created_at DESC, c.case_id DESC LIMIT $3`,
    values,
  };
}

/**
 * Reads the cases that a member has claimed, or whose submission by the member is under review, newest
 * first.
 */
export function casesOfClaimant(
  memberId: string,
  limit: number,
  { at, id }: KeysetPosition = START_NEWEST,
): Sql<ListedCaseRow> {
  const where = `c.claimant_id = $4 AND ${stays('c.author_id')} AND NOT (${LAPSED})`;
  return page('of-claimant', [at, id, limit, memberId], [{ where }]);
}

/**
 * Reads the cases in which a member took part, the last one first; `place` is when. A case that is not
 * public any more is `hidden`, because leaving it out here could mean to walk past many.
 */
export function casesOfParticipant(
  memberId: string,
  limit: number,
  { at, id }: KeysetPosition = START_NEWEST,
): Sql<ListedCaseRow> {
  return {
    name: 'cases-of-participant',
    text: `SELECT ${LISTED}, to_json(c.acceptance_criteria) AS acceptance_criteria,
        ${LAPSED} AS lapsed, ${SUBMISSION},
        c.removed OR c.author_gone OR NOT (${stays('c.author_id')}) AS hidden,
        to_char(took_part_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
      FROM (SELECT case_id, took_part_at FROM case_members
          WHERE member_id = $4 AND (took_part_at, case_id) < ($1::timestamptz, $2::uuid)
          ORDER BY took_part_at DESC, case_id DESC LIMIT $3) listed,
        LATERAL (SELECT * FROM cases WHERE case_id = listed.case_id OFFSET 0) c
      LEFT JOIN case_submissions s ON s.submission_id = c.submission_id
      ORDER BY took_part_at DESC, listed.case_id DESC`,
    values: [at, id, limit, memberId],
  };
}

/** Reads the cases of all authors, or of one, that were taken down, newest first. */
export const casesTakenDown = (limit: number, author?: string): Sql<TakenDownRow> =>
  recordsTakenDown('cases', 'case_id', limit, author);

/** Claimed cases whose lease has expired while the log has no event of it yet. */
export function lapsedCases(limit: number): Sql<{ case_id: string }> {
  return {
    name: 'lapsed-cases',
    text: `SELECT case_id FROM cases c WHERE ${LAPSED} ORDER BY lease_expires_at LIMIT $1`,
    values: [limit],
  };
}

const AS_READ = stateAsReadSql('cases');

/** Reads a member's own cases as the member may see them. */
export const casesOfMember = ownRecords<OwnRow>({
  type: 'case',
  table: 'cases',
  id: 'case_id',
  member: 'author_id',
  removed: 'removed',
  columns: `case_id AS id, title, summary, objective, acceptance_criteria, artifact_id,
        ${AS_READ.state} AS state, ${AS_READ.version} AS version, created_at,
        ${AS_READ.updated_at} AS updated_at,
        decision IS NOT NULL AS removed`,
});

/** Counts the cases that a member has claimed and may still work on. `OFFSET 0` keeps it from reading all leases. */
export function countHeldCases(memberId: string): Sql<{ count: number }> {
  return sql`SELECT count(*)::int AS count
    FROM (SELECT state, lease_expires_at FROM cases WHERE claimant_id = ${memberId} OFFSET 0) held
    WHERE state = 'claimed' AND lease_expires_at > clock_timestamp()`;
}

/** Reads cases as published records. */
export function caseRecords(ids: readonly string[]): Sql<RecordRow> {
  return named(
    `SELECT case_id AS subject_id, author_id,
      CASE WHEN gone THEN 'withdrawn' WHEN removed THEN 'removed' ELSE 'published' END AS state,
      NOT removed AND NOT gone AS public, removed, version, title,
      concat_ws(E'\n', summary, objective, array_to_string(acceptance_criteria, E'\n')) AS text,
      created_at AS published_at
    FROM cases, LATERAL (SELECT author_gone OR NOT ${stays('author_id')} AS gone) ends
    WHERE case_id = ANY($1::uuid[])`,
    [ids],
  );
}

/** An event that changed who holds a case. */
export interface CaseStep {
  event_id: string;
  type: string;
  recorded_at: Date;
  data: { member_id: string; lease_expires_at: string };
}

/** Reads the newest changes of who holds a case, newest first. Anonymous reads may use it: it is no read of the log. */
export const newestSteps = (authorId: string, stream: string, limit: number): Sql<CaseStep> =>
  named(
    `SELECT event_id, type, recorded_at,
       jsonb_build_object('member_id', member_id, 'lease_expires_at', lease_expires_at) AS data
     FROM case_steps WHERE owner_id = $1 AND stream_id = $2 ORDER BY stream_version DESC LIMIT $3`,
    [authorId, stream, limit],
  );
