import { z } from 'zod';
import { AnyUuid } from '../../platform/http/schemas.ts';
import type { KeysetPosition } from '../../platform/keyset-cursor.ts';
import type { Sql } from '../../platform/sql.ts';
import { caseNotes, caseReviews, caseSubmissions } from '../../projections/cases/case-record.ts';
import { casesOfMember } from '../../projections/cases/cases.ts';
import type { OwnRow } from '../../projections/publications/record-decisions.ts';
import { exportSection, ToldDecision } from '../membership/export-section.ts';
import { Case, CaseNote, Review, Submission } from './contract.ts';

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
