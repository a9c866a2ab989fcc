import { type ReportOfMember, reportsOfMember } from '../../projections/record-reports.ts';
import { exportSection } from '../export-section.ts';

/** What became of a report is in the feed, once it may be told. */
export const reportsSection = exportSection<ReportOfMember>({
  name: 'reports',
  after: reportsOfMember,
  entry: ({ report_id, subject_type, subject_id, reason, details, reported_at }) => ({
    id: report_id,
    subject: { type: subject_type, id: subject_id },
    reason,
    details,
    created_at: reported_at.toISOString(),
  }),
});
