import { z } from 'zod';
import { REPORT_REASONS } from '../../domain/guestbook/words.ts';
import { RECORD_TYPES } from '../../domain/publications/words.ts';
import { AnyUuid, Timestamp } from '../../platform/http/schemas.ts';
import {
  type ReportOfMember,
  reportsOfMember,
} from '../../projections/publications/record-reports.ts';
import { exportSection } from '../membership/export-section.ts';

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
