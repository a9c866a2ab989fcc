import { randomUUID } from 'node:crypto';
import { recordReports, type SubjectId } from '../../domain/reports/reports.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { handle, type Policy } from '../../platform/eventstore/handle.ts';
import { derive } from '../../platform/eventstore/load.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import type { ReplyOf } from '../../platform/http/route.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { findRecordReport, reportsOn } from '../../projections/publications/record-reports.ts';
import { recordAuthors } from '../../projections/publications/records.ts';
import { reportCommand } from '../guestbook/author-commands.ts';
import type { PublicationKind } from '../publications/publication-kind.ts';
import type { ReportRequest, reportsContract } from './contract.ts';

export type ReportPolicy<Code extends string> = Policy<
  Code,
  ReplyOf<(typeof reportsContract)['report.create']>,
  null,
  ReceiptBody
>;

/** To the reporter, a report is open until the feed announces the outcome. */
const received = (isNew: boolean, id: string) => (receipt: ReceiptBody) => {
  const report = { id, state: 'open' as const };
  const body = { status: 'received' as const, report, receipt };
  return isNew ? { status: 201 as const, body } : { status: 200 as const, body };
};

/** Reports a note, under the same rules as a report on the guestbook page. */
export function reportNote<Code extends string>(
  store: EventStore,
  policy: ReportPolicy<Code>,
  memberId: string,
  { subject, reason, details }: ReportRequest,
) {
  const reporter = { memberId };
  const reported = { reportId: randomUUID(), reporter, reason, details: details ?? null };
  return handle(store, policy, reportCommand(subject.id, reported, received));
}

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

/** Reports a published record. */
export function reportRecord<Code extends string>(
  store: EventStore,
  policy: ReportPolicy<Code>,
  of: PublicationKind,
  memberId: string,
  { subject: { id }, reason, details }: ReportRequest,
) {
  const subject = { type: of.type, id };
  const reportId = randomUUID();
  return handle(store, policy, {
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
      const reply = received(isNew, isNew ? reportId : (reports.former?.report_id ?? reportId));
      return { ...reported, reply };
    },
  });
}
