import { randomUUID } from 'node:crypto';
import { memberOwner } from '../../domain/owners.ts';
import { recordReports, type SubjectId } from '../../domain/reports/reports.ts';
import { type Command, defineCommand } from '../../platform/eventstore/handle.ts';
import { derive } from '../../platform/eventstore/load.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { findRecordReport, reportsOn } from '../../projections/publications/record-reports.ts';
import { recordAuthors } from '../../projections/publications/records.ts';
import type { PublicationKind } from '../publications/publication-kind.ts';
import type { ReportRequest } from './contract.ts';

/**
 * Loads the reports on a record, to decide on one by the member: rows instead of the stream, which may
 * be long. Locking the record's author keeps the record public until the commit.
 */
function loadReports(of: PublicationKind, { type, id }: SubjectId, memberId: string) {
  const records = of.records([id]);
  return derive(
    {
      records,
      formers: findRecordReport(of.type, id, memberId),
      totals: reportsOn(of.type, id),
    },
    ({ records: [row], formers: [former], totals: [totals] }) => {
      if (!row || !totals) return refuse('not_found');
      const reporters = former ? { [memberId]: former.report_id } : {};
      const state = { reporters, dismissed: totals.dismissed };
      const streams = defineStream(`report-${type}`, recordReports);
      const stream = streams.at(memberOwner(row.author_id), id, totals.version, state);
      return { row, former, ...stream };
    },
    recordAuthors(records),
  );
}

/** Reports a published record. Replies as `reportCommand` does for a note. */
export function reportRecordCommand<Reply, Given>(
  of: PublicationKind,
  memberId: string,
  { subject: { id }, reason, details }: ReportRequest,
  reply: (isNew: boolean, reportId: string) => (given: Given) => Reply,
): Command<Reply, 'not_found', unknown, Given> {
  const subject = { type: of.type, id };
  const reportId = randomUUID();
  return defineCommand({
    load: { reports: loadReports(of, subject, memberId) },
    decide({ reports }) {
      const reported = reports.decide({
        type: 'ReportRecord',
        subject,
        public: reports.row.public,
        reportId,
        memberId,
        reason,
        details: details ?? null,
      });
      if (isRefusal(reported)) return reported;
      const isNew = reported.appends.length > 0;
      return {
        ...reported,
        reply: reply(isNew, isNew ? reportId : (reports.former?.report_id ?? reportId)),
      };
    },
  });
}
