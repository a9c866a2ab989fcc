import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { REPORT_REASONS } from '../guestbook/words.ts';
import { RECORD_TYPES } from '../publications/words.ts';

/**
 * Reports on a published record have a separate stream, owned by the record's author, so that a
 * report does not change the record's version.
 */
const subject = z.strictObject({ type: z.enum(RECORD_TYPES), id: z.uuid() });
const reports = z.array(z.strictObject({ report_id: z.uuid(), member_id: z.uuid() }));

export const RecordReported = defineEvent('RecordReported', {
  summary:
    'A member reported a record. `silent`: a moderator dismissed this reason before, so the report requests no new review.',

  data: z.strictObject({
    subject,
    report_id: z.uuid(),
    member_id: z.uuid(),
    reason: z.enum(REPORT_REASONS),
    silent: z.boolean(),
  }),
  personal: z.strictObject({ details: z.string().nullable() }),
});

export const RecordReportsDismissed = defineEvent('RecordReportsDismissed', {
  summary: 'A moderator kept the record, which settles these reports and reasons.',

  data: z.strictObject({
    subject,
    reports,
    reasons: z.array(z.enum(REPORT_REASONS)),
    claimed_at: z.iso.datetime().nullable().optional(),
  }),
});

export const RecordReportsResolved = defineEvent('RecordReportsResolved', {
  summary:
    'Notifies the reporters of the outcome: `withdrawn`; `removed`, once it can no longer be undone; or `kept`, if another moderator restored the record before then.',

  data: z.strictObject({ subject, outcome: z.enum(['kept', 'removed', 'withdrawn']), reports }),
});
