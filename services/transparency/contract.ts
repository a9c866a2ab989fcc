import { z } from 'zod';
import { defineContract } from '../../platform/http/route.ts';
import { Cursor, Limit, NextPage } from '../../platform/http/schemas.ts';

const Count = z.int().min(0);

const Answers = {
  removed: Count.meta({ description: 'Public before, and taken down' }),
  restored: Count.meta({ description: 'Public again after a removal' }),
  kept: Count.meta({ description: 'Reported, and kept in public' }),
};

const Week = z
  .object({
    week: z.string().meta({
      description: 'The week by ISO 8601, in UTC',
      examples: ['2026-W38'],
    }),
    from: z.iso.date().meta({ description: 'Its Monday' }),
    decisions: Count.meta({ description: 'Of notes and records together' }),
    notes: z
      .object({
        approved: Count.meta({ description: 'Published after review' }),
        rejected: Count.meta({ description: 'Never public' }),
        ...Answers,
      })
      .meta({ description: 'Decisions on notes of the guestbooks' }),
    records: z
      .object(Answers)
      .meta({ description: 'Profiles, context packets, cases and notes on cases' }),
    policies: z
      .array(
        z.object({
          policy: z.string().meta({ description: 'The code of a policy' }),
          rejected: Count.meta({ description: 'Rejections that name it' }),
          removed: Count.meta({ description: 'Removals that name it' }),
        }),
      )
      .meta({ description: 'Rejections and removals by the policy that they name' }),
    appeals: z
      .object({
        opened: Count.meta({ description: 'Appeals that authors opened' }),
        granted: Count.meta({ description: 'Appeals that ended with the note in public' }),
        upheld: Count.meta({ description: 'Appeals that ended with the decision upheld' }),
      })
      .meta({ description: 'Appeals against decisions on notes, opened or answered in this week' }),
    time_to_decision_seconds: z
      .object({
        median: Count.meta({ description: 'Half of the decisions took at most so long' }),
        p90: Count.meta({ description: 'Nine of ten decisions took at most so long' }),
      })
      .nullable()
      .meta({
        description:
          'From arrival to approval or rejection, or from the oldest report to its answer; ' +
          'rounded down to two digits. Null if nothing was measured',
      }),
  })
  .meta({ id: 'TransparencyWeek', description: 'What moderators decided in a week, in numbers' });
export type Week = z.input<typeof Week>;

export const transparencyContract = defineContract({
  'transparency.list': {
    method: 'GET',
    path: '/api/transparency',
    summary: 'Decisions of moderators by week, newest first',
    description:
      'Counts alone. A week is listed once it is over and none of its decisions can be undone by ' +
      'its moderator any more. A decision that was undone is not counted. Decisions on ' +
      'memberships are not counted, because a small number could show whose it was.',
    tag: 'transparency',
    access: 'public',
    query: z.object({ cursor: Cursor.optional(), limit: Limit }),
    replies: {
      200: {
        description: 'A page of weeks',
        body: z
          .object({
            status: z.literal('ok'),
            weeks: z.array(Week).meta({ description: 'Newest first' }),
            ...NextPage,
          })
          .meta({ id: 'TransparencyPage' }),
      },
    },
    problems: ['invalid_cursor'],
  },
});
