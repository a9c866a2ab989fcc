import { z } from 'zod';
import { READERS } from '../../../domain/moderation/roles.ts';
import { defineContract } from '../../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  FilterText,
  Limit,
  NextPage,
  Timestamp,
} from '../../../platform/http/schemas.ts';

const Entry = z
  .object({
    position: z.int().meta({ description: 'In the log; what depends on an event comes after it' }),
    id: AnyUuid,
    type: z
      .string()
      .meta({ description: 'As the log names it: `NoteApproved`, `PolicyChanged`, …' }),
    occurred_at: Timestamp,
    actor: z.object({
      type: z.enum(['member', 'moderator', 'service', 'guest', 'operator']),
      id: AnyUuid.optional(),
      name: z.string().optional(),
    }),
    subject: z.object({
      type: z.string(),
      id: z.string().meta({ description: 'A UUID; the code where it is a policy' }),
    }),
    version: z.int().meta({ description: "The subject's, with this event" }),
    data: z.record(z.string(), z.unknown()).meta({ description: 'Ids, codes and times; no text' }),
  })
  .meta({ id: 'AuditEntry' });
export type Entry = z.input<typeof Entry>;

const AuditPage = z
  .object({
    status: z.literal('ok'),
    entries: z.array(Entry),
    ...NextPage,
  })
  .meta({ id: 'AuditPage' });

export const NDJSON = 'application/x-ndjson';

export const auditContract = defineContract({
  'moderation.audit': {
    method: 'GET',
    path: '/api/moderation/audit',
    summary: 'The audit log: decisions, policies, moderators and notes',
    description:
      'By position in the log. With `format=ndjson`, or `Accept: application/x-ndjson`, one entry ' +
      'a line: everything from the cursor on, `limit` aside.',
    tag: 'moderation',
    access: { roles: READERS },
    query: z.object({
      cursor: Cursor.optional(),
      limit: Limit,
      order: z.enum(['oldest', 'newest']).default('oldest'),
      format: z.enum(['json', 'ndjson']).optional(),
      moderator: FilterText(100).describe('By this moderator: an id or a name').optional(),
      policy: FilterText(50).describe('Decisions under this policy: its code').optional(),
      subject: FilterText(100)
        .describe('About this note, record or moderator: its id; about this policy: its code')
        .optional(),
    }),
    replies: {
      200: {
        description: 'A page, or everything as lines',
        body: AuditPage,
        stream: NDJSON,
      },
    },
    problems: ['moderator_required', 'invalid_cursor', 'cursor_reset'],
  },
});
