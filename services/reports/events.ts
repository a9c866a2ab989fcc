import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { REPORT_REASONS } from '../guestbook/report-reasons.ts';
import { RECORD_TYPES } from '../publications/record-type.ts';

/**
 * Reports on a published record have a separate stream, owned by the record's author, so that a
 * report does not change the record's version.
 */
const subject = z.strictObject({ type: z.enum(RECORD_TYPES), id: z.uuid() });
const reports = z.array(z.strictObject({ report_id: z.uuid(), member_id: z.uuid() }));

/** `silent`: a moderator dismissed this reason before, so the report requests no new review. */
export const RecordReported = defineEvent('RecordReported', {
  data: z.strictObject({
    subject,
    report_id: z.uuid(),
    member_id: z.uuid(),
    reason: z.enum(REPORT_REASONS),
    silent: z.boolean(),
  }),
  personal: z.strictObject({ details: z.string().nullable() }),
});

/** A moderator reviewed the record and kept it, which answers these reports and reasons. */
export const RecordReportsDismissed = defineEvent('RecordReportsDismissed', {
  data: z.strictObject({
    subject,
    reports,
    reasons: z.array(z.enum(REPORT_REASONS)),
    claimed_at: z.iso.datetime().nullable().optional(),
  }),
});

/**
 * Notifies the reporters of the outcome: withdrawn; removed, and its remover can no longer undo it;
 * or restored by another moderator before then (`kept`).
 */
export const RecordReportsResolved = defineEvent('RecordReportsResolved', {
  data: z.strictObject({ subject, outcome: z.enum(['kept', 'removed', 'withdrawn']), reports }),
});
