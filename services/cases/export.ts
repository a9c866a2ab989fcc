import { caseNotesOf, reviewsOf, submissionsOf } from '../../projections/case-record.ts';
import { casesOf } from '../../projections/cases.ts';
import type { OwnRow } from '../../projections/record-decisions.ts';
import type { Sql } from '../eventstore/sql.ts';
import { exportSection } from '../export-section.ts';
import type { Place } from '../http/place.ts';

/** What a reader of the record gives, as it stands there; times become text with the document. */
function section(
  name: string,
  read: (
    memberId: string,
    limit: number,
    after: Place | undefined,
    undoSeconds: number,
  ) => Sql<OwnRow>,
) {
  return exportSection<OwnRow>({
    name,
    after: (memberId, last, limit, undoSeconds) =>
      read(memberId, limit, last && { at: last.place, id: last.id }, undoSeconds),
    entry: ({ place: _, ...entry }) => entry,
  });
}

export const caseSections = [
  section('cases', casesOf),
  section('submissions', submissionsOf),
  section('reviews', reviewsOf),
  section('case_notes', caseNotesOf),
];
