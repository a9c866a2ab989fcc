import { z } from 'zod';
import { defineContract } from '../../platform/http/route.ts';
import { AnyUuid, Cursor, Limit, NextPage, Timestamp } from '../../platform/http/schemas.ts';
import { ACTIVITY_TYPES } from '../../projections/activity-entry.ts';
import { Actor } from '../updates/update-event.ts';

const Entry = z
  .object({
    id: AnyUuid,
    type: z.enum(ACTIVITY_TYPES),
    occurred_at: Timestamp,
    actor: Actor,
    subject: z.object({ type: z.string(), id: AnyUuid }),
    title: z.string().describe("The subject's title; a note's first 80 characters."),
  })
  .meta({ id: 'ActivityEntry' });

const ActivityPage = z
  .object({
    status: z.literal('ok'),
    entries: z.array(Entry),
    ...NextPage,
  })
  .meta({ id: 'ActivityPage' });

export const activityContract = defineContract({
  'activity.list': {
    method: 'GET',
    path: '/api/v1/activity',
    summary: 'What happened in public, newest first',
    description: 'Something withdrawn, taken down or erased is not listed.',
    tag: 'activity',
    access: 'public',
    gated: true,
    query: z.object({
      type: z.enum(ACTIVITY_TYPES).optional(),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: {
      200: {
        description: 'A page of the public record',
        body: ActivityPage,
      },
    },
    problems: ['invalid_cursor'],
  },
});
