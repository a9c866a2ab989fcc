import { z } from 'zod';
import { RESETS } from '../../domain/cases/case-state.ts';
import {
  type Append,
  attribute,
  defineFactsOfStreamsSinceReset,
} from '../../platform/eventstore/append.ts';
import type { Rows } from '../../platform/eventstore/load.ts';
import { LostRace } from '../../platform/eventstore/transaction.ts';
import { AnyUuid } from '../../platform/http/schemas.ts';
import type { KeysetPosition } from '../../platform/keyset-cursor.ts';
import { isRefusal } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import { casesClaimed, casesHeld } from '../../projections/cases/case-members.ts';
import { caseNotes, caseReviews, caseSubmissions } from '../../projections/cases/case-record.ts';
import { casesOfMember } from '../../projections/cases/cases.ts';
import type { OwnRow } from '../../projections/publications/record-decisions.ts';
import { defineAccessEnding, defineAccountClosure } from '../account-closure.ts';
import { exportSection, ToldDecision } from '../export-section.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { caseStream } from './case-stream.ts';
import { Case, CaseNote, Review, Submission } from './contract.ts';

const factsSinceReset = defineFactsOfStreamsSinceReset(RESETS);

/**
 * Ends the member's part in cases. `LeaveCase`, when the account is closed, ends the member's own cases and releases
 * claims of others' cases, which drops a submission under review. Accepted cases keep their state. Once the
 * member is deactivated, reading any of the member's own cases returns 410. `LoseClaim`, when the membership
 * is disabled, releases claims only.
 */
function endCases(
  type: 'LeaveCase' | 'LoseClaim',
  memberId: string,
  { cases, facts, members }: CaseRows,
  now: Date,
): Append[] {
  const streams = Map.groupBy(facts.flat(), ({ stream_id }) => stream_id);
  return cases.flatMap((row) => {
    const { case_id } = row;
    const events = streams.get(`case-${case_id}`);
    // The member claimed the case after its events were looked up.
    if (!events) throw new LostRace(`case ${case_id}: events not loaded`);
    const ended = caseStream(row, events).decide({
      type,
      memberId,
      now,
      members: members.find((one) => one.case_id === case_id)?.members ?? [],
    });
    if (isRefusal(ended)) throw new Error(`case ${case_id}: ${ended.refused}`);
    return attribute(ended.appends, { type: 'member', id: memberId });
  });
}

/** Reads cases; `find` finds every member who took part in them, because the events appear in their feeds. */
const readCases = (reads: typeof casesHeld) => ({
  find: (memberId: string, _request: unknown, limit: number) => reads.concerned(memberId, limit),
  load: (memberId: string, _request: unknown, limit: number) => ({
    cases: reads.cases(memberId, limit),
    facts: reads.facts(memberId, limit, factsSinceReset),
    members: reads.living(memberId, limit),
  }),
});
type CaseRows = Rows<ReturnType<ReturnType<typeof readCases>['load']>>;

export const casesDisabling = defineAccessEnding({
  ...readCases(casesClaimed),
  close: (memberId, rows, now) => endCases('LoseClaim', memberId, rows, now),
});

export const casesClosure = defineAccountClosure({
  ...readCases(casesHeld),
  close: (memberId, rows, now) => endCases('LeaveCase', memberId, rows, now),
  // Only the member's own cases end; other members' cases keep their review leases.
  rows: (memberId, { cases }) => [
    dropLeases(
      'case',
      cases.filter(({ author_id }) => author_id === memberId).map(({ case_id }) => case_id),
    ),
  ],
});

/** Exports the rows of `read` unchanged; their times become text when the document is written. */
function section(
  name: string,
  read: (
    memberId: string,
    limit: number,
    after: KeysetPosition | undefined,
    undoSeconds: number,
  ) => Sql<OwnRow>,
  schema: z.ZodType,
) {
  return exportSection<OwnRow>({
    name,
    after: (memberId, last, limit, undoSeconds) =>
      read(memberId, limit, last && { at: last.place, id: last.id }, undoSeconds),
    entry: ({ place: _, ...entry }) => entry,
    schema,
  });
}

const byMember = { member_id: true } as const;
const ofCase = { case_id: AnyUuid };

const ExportedCase = Case.omit({ author_id: true, claim: true, submission: true })
  .extend({ removed: z.boolean(), decision: ToldDecision })
  .meta({ id: 'ExportedCase' });
const ExportedSubmission = Submission.omit(byMember)
  .extend(ofCase)
  .meta({ id: 'ExportedSubmission' });
const ExportedReview = Review.omit(byMember).extend(ofCase).meta({ id: 'ExportedReview' });
const ExportedCaseNote = CaseNote.omit(byMember)
  .extend({ ...ofCase, state: z.enum(['published', 'removed']), decision: ToldDecision })
  .meta({ id: 'ExportedCaseNote' });

export const caseSections = [
  section('cases', casesOfMember, ExportedCase),
  section('submissions', caseSubmissions, ExportedSubmission),
  section('reviews', caseReviews, ExportedReview),
  section('case_notes', caseNotes, ExportedCaseNote),
];
