import { z } from 'zod';
import { REPORT_REASONS } from '../../domain/guestbook/words.ts';
import { memberOwner } from '../../domain/owners.ts';
import { RECORD_TYPES } from '../../domain/publications/words.ts';
import { reportsStream } from '../../domain/reports/reports.ts';
import { AnyUuid, Timestamp } from '../../platform/http/schemas.ts';
import {
  type ReportOfMember,
  reportedCaseNotesOf,
  reportersOfCaseNotes,
  reportsOfMember,
} from '../../projections/publications/record-reports.ts';
import { defineAccountClosure } from '../account-closure.ts';
import { exportSection } from '../export-section.ts';

/**
 * Settles the reports on a member's case notes, which end with the account without an event. Those on
 * other records end with the event that ends the record.
 */
export const reportsClosure = defineAccountClosure({
  find: (memberId, _request, limit) => reportersOfCaseNotes(memberId, limit),
  load: (memberId, _request, limit) => reportedCaseNotesOf(memberId, limit),
  close: (memberId, rows) =>
    rows.map(({ note_id, version, reports }) => {
      const subject = { type: 'case_note' as const, id: note_id };
      return {
        owner: memberOwner(memberId),
        stream: reportsStream(subject),
        version,
        actor: { type: 'service' },
        events: [
          {
            type: 'RecordReportsResolved',
            data: { subject, outcome: 'withdrawn', reports },
            personal: null,
          },
        ],
      };
    }),
});

/** A member's reports, without outcomes: the feed announces an outcome once it is final. */
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
  schema: z
    .object({
      id: AnyUuid,
      subject: z.object({ type: z.enum(['note', ...RECORD_TYPES]), id: AnyUuid }),
      reason: z.enum(REPORT_REASONS),
      details: z.string().nullable(),
      created_at: Timestamp,
    })
    .meta({ id: 'ExportedReport' }),
});
