import { z } from 'zod';
import { REPORT_REASONS } from '../../domain/guestbook/words.ts';
import { RECORD_TYPES } from '../../domain/publications/words.ts';
import { REPLAYED_HEADER } from '../../platform/http/keyed-call.ts';
import { COMMAND_PROBLEMS } from '../../platform/http/problems.ts';
import { defineContract } from '../../platform/http/route.ts';
import { AnyUuid, ReceiptBody, Text, Uuid } from '../../platform/http/schemas.ts';
import { WRITES_PER_DAY } from '../../platform/limits/write-budget.ts';

export const ReportRequest = z
  .strictObject({
    subject: z.strictObject({ type: z.enum(['note', ...RECORD_TYPES]), id: Uuid }),
    reason: z.enum(REPORT_REASONS),
    details: Text(0, 1000).optional(),
  })
  .meta({ id: 'ReportRequest' });
export type ReportRequest = z.output<typeof ReportRequest>;

const Reported = z
  .object({
    status: z.literal('received'),
    report: z.object({ id: AnyUuid, state: z.literal('open') }),
    receipt: ReceiptBody,
  })
  .meta({ id: 'ReportReply' });
export type Reported = z.input<typeof Reported>;

export const reportsContract = defineContract({
  'report.create': {
    method: 'POST',
    path: '/api/v1/reports',
    summary: 'Report something public to the moderators',
    description:
      "A profile's id is its member's. Who has reported the same subject before gets that report's id again and changes nothing. What becomes of a report is told in the feed.",
    tag: 'reports',
    access: { scope: 'report:create' },
    gated: true,
    idempotency: 'required',
    limits: [WRITES_PER_DAY],
    body: ReportRequest,
    replies: {
      200: { description: 'You reported it before; nothing has changed', body: Reported },
      201: {
        description: "It is in the moderators' queue",
        body: Reported,
        headers: REPLAYED_HEADER,
        location: '/api/v1/updates',
      },
    },
    problems: [...COMMAND_PROBLEMS, 'not_found'],
  },
});
