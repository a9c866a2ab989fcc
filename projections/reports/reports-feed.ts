import * as reports from '../../domain/reports/events.ts';
import { defineFeedEntries, type FeedEntry } from '../feed-entry.ts';

interface Resolved {
  subject: { type: string; id: string };
  reports: readonly { report_id: string; member_id: string }[];
}

/** Hides which moderator acted. */
function resolved(
  { subject, reports }: Resolved,
  outcome: 'kept' | 'removed' | 'withdrawn',
): FeedEntry[] {
  const actor = { type: outcome === 'withdrawn' ? ('service' as const) : ('moderator' as const) };
  return reports.map(({ report_id, member_id }) => ({
    member: member_id,
    type: 'report.resolved',
    subject: { type: 'report', id: report_id },
    data: { outcome, subject },
    actor,
  }));
}

/**
 * A report on a record notifies its reporter twice, like a report on a note: received and resolved.
 */
export const reportsFeed = defineFeedEntries(reports, {
  RecordReported: ({ data }) => ({
    member: data.member_id,
    type: 'report.received',
    subject: { type: 'report', id: data.report_id },
    data: { subject: data.subject, reason: data.reason, already_reviewed: data.silent },
  }),
  RecordReportsDismissed: ({ data }) => resolved(data, 'kept'),
  RecordReportsResolved: ({ data }) => resolved(data, data.outcome),
});
