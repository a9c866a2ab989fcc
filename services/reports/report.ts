import { randomUUID } from 'node:crypto';
import { recordReports, reportsStream } from '../../domain/reports/reports.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { findRecordReport, reportsOn } from '../../projections/publications/record-reports.ts';
import { recordAuthors } from '../../projections/publications/records.ts';
import {
  type Accepted,
  defineMemberCommand,
  type MemberCommand,
} from '../credentials/run-member-command.ts';
import { reportCommand } from '../guestbook/author-commands.ts';
import type { PublicationKind } from '../publications/publication-kind.ts';
import type { Reported, ReportRequest } from './contract.ts';

type Report = MemberCommand<200 | 201, Reported, 'not_found'>;
type Received = Accepted<200 | 201, Reported>;

/** To the reporter, a report is open until the feed announces the outcome. */
function received(id: string, appends: Received['appends']): Received {
  return {
    status: appends.length > 0 ? 201 : 200,
    appends,
    body: (receipt) => ({ status: 'received', report: { id, state: 'open' }, receipt }),
  };
}

/** Reports a note, under the same rules as a report on the guestbook page. */
export function reportNote(memberId: string, { subject, reason, details }: ReportRequest): Report {
  const command = reportCommand(subject.id, {
    reportId: randomUUID(),
    reporter: { memberId },
    reason,
    details: details ?? null,
  });
  return {
    load: command.load,
    decide(loaded) {
      const decided = command.decide(loaded);
      if (isRefusal(decided)) return decided;
      if ('unchanged' in decided) return received(decided.unchanged, []);
      return received(decided.answer as string, decided.appends);
    },
  };
}

/**
 * Reports a published record. Locking its author keeps the record public until the commit. Reads
 * rows instead of the stream of reports, which may be long.
 */
export function reportRecord(
  of: PublicationKind,
  memberId: string,
  { subject: { id }, reason, details }: ReportRequest,
): Report {
  const subject = { type: of.type, id };
  const stream = reportsStream(subject);
  const reportId = randomUUID();
  const records = of.records([id]);
  return defineMemberCommand({
    find: recordAuthors(records),
    load: {
      records,
      formers: findRecordReport(of.type, id, memberId),
      totals: reportsOn(of.type, id),
    },
    decide({
      rows: {
        records: [row],
        formers: [former],
        totals: [totals],
      },
    }) {
      if (!row || !totals) return refuse('not_found');
      const reporters = former ? { [memberId]: former.report_id } : {};
      const state = { reporters, dismissed: totals.dismissed };
      const decided = recordReports.decide(state, {
        type: 'ReportRecord',
        subject,
        public: row.public,
        reportId,
        memberId,
        reason,
        details: details ?? null,
      });
      if (isRefusal(decided)) return decided;
      if (decided.length === 0) return received(former?.report_id ?? reportId, []);
      const actor = { type: 'member' as const, id: memberId };
      const { version } = totals;
      return received(reportId, [
        { owner: memberOwner(row.author_id), stream, version, actor, events: decided },
      ]);
    },
  });
}
