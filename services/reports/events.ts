import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { REPORT_REASONS } from '../guestbook/report-reasons.ts';
import { RECORD_TYPES } from '../publications/record-type.ts';

/**
 * What is said of a published record stands in a stream of its own beside the record's, and belongs
 * to the record's author as well: so the record's version stays what its author made it.
 */
const subject = z.strictObject({ type: z.enum(RECORD_TYPES), id: z.uuid() });
const reports = z.array(z.strictObject({ report_id: z.uuid(), member_id: z.uuid() }));

/** `silent`: a moderator dismissed the reason before, so it asks for no new review. */
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

/** A moderator looked and keeps the record: these reports were answered, and these reasons. */
export const RecordReportsDismissed = defineEvent('RecordReportsDismissed', {
  data: z.strictObject({
    subject,
    reports,
    reasons: z.array(z.enum(REPORT_REASONS)),
    claimed_at: z.iso.datetime().nullable().optional(),
  }),
});

/**
 * The record is gone, for good as far as its remover can say, or brought back by another before that
 * (`kept`): its reporters are told.
 */
export const RecordReportsResolved = defineEvent('RecordReportsResolved', {
  data: z.strictObject({ subject, outcome: z.enum(['kept', 'removed', 'withdrawn']), reports }),
});
