import { z } from 'zod';
import { READERS } from '../../../domain/moderation/roles.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { Timestamp } from '../../../platform/http/schemas.ts';
import { RankedModerator } from '../staff/contract.ts';
import { QUEUE_HOURS_DAYS } from './queue-hours.ts';

export const MAX_DAYS = 92;

/** An ISO 8601 time, or a date, which means its start in UTC. */
const Moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: 'must be an ISO 8601 time or date',
  })
  .transform((text) => new Date(text))
  .refine((at) => at.getUTCFullYear() >= 1970, 'must be after 1970')
  // A plain string in the OpenAPI document: client generators do not support a union of formats.
  .meta({
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      delete jsonSchema.anyOf;
      Object.assign(jsonSchema, { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d' });
    },
  });

const Spread = z
  .object({ p50: z.number(), p95: z.number(), max: z.number() })
  .nullable()
  .meta({ description: 'Seconds; null where there is nothing to measure' });

const Rate = z
  .number()
  .min(0)
  .max(1)
  .nullable()
  .meta({ description: 'Null if there is nothing to divide by' });

const Decisions = {
  decisions: z.int(),
  approved: z.int(),
  rejected: z.int(),
  removed: z.int(),
  overturned: z.int().meta({ description: 'Undone, or followed by the opposite decision' }),
  overturn_rate: Rate,
  age_seconds: Spread.meta({
    description: 'From arrival to decision; of a record from the oldest report that it answered',
  }),
  handling_seconds: Spread.meta({ description: 'From claim to decision, where it was claimed' }),
};

const Stats = z
  .object({
    status: z.literal('ok'),
    from: Timestamp,
    to: Timestamp,
    depth: z.object({
      pending: z.int(),
      past_due: z.int().meta({ description: 'Waiting for more than 24 hours' }),
      oldest_age_seconds: z.int().nullable(),
      reported: z.int().meta({ description: 'Public notes and records with reports that wait' }),
    }),
    jobs: z.object({
      screening: z.int().meta({ description: 'Notes that wait for their screening' }),
      dead: z.int().meta({ description: 'Jobs that failed all retries, for the operator' }),
    }),
    arrivals: z.int().meta({ description: 'Notes submitted, and records that were reported' }),
    ...Decisions,
    days: z.array(z.object({ date: z.iso.date(), arrivals: z.int(), ...Decisions })),
    arrivals_by_hour: z
      .array(
        z.object({
          weekday: z.int().min(1).max(7).meta({ description: '1 is Monday' }),
          hour: z.int().min(0).max(23).meta({ description: 'The hour that begins then' }),
          arrivals: z.int(),
        }),
      )
      .meta({
        description: 'By hour of the week in UTC, in this order; hours without any are left out',
      }),
    waiting_by_hour: z
      .array(
        z.object({
          hour: Timestamp.meta({ description: 'When the hour began in which a worker counted' }),
          waiting: z
            .int()
            .meta({ description: 'Notes that waited, deferred and escalated ones too' }),
          oldest_age_seconds: z
            .int()
            .nullable()
            .meta({ description: 'Of the note that had waited longest; null if none waited' }),
        }),
      )
      .meta({
        description:
          `What a worker counted every hour of the time, the oldest first; kept for ${QUEUE_HOURS_DAYS} ` +
          'days. Hours in which no worker ran are left out',
      }),
    findings: z.array(
      z.object({
        code: z.string(),
        flagged: z.int().meta({ description: 'Notes decided on that had this finding' }),
        confirmed: z.int().meta({ description: 'Of those, rejected or removed as of now' }),
        precision: Rate,
      }),
    ),
    moderators: z.array(
      z.object({
        moderator: RankedModerator.nullable().meta({ description: 'Null: the service itself' }),
        ...Decisions,
      }),
    ),
  })
  .meta({ id: 'ModerationStatistics' });
export type Stats = z.input<typeof Stats>;

export const statsContract = defineContract({
  'moderation.stats': {
    method: 'GET',
    path: '/api/moderation/stats',
    summary: 'The queue now, and arrivals, decisions and findings of a time',
    description:
      `\`from\` and \`to\` (exclusive) are ISO 8601 times, or dates that mean their beginning in ` +
      `UTC; the last seven days where nothing is said, ${MAX_DAYS} days at most. Days are UTC's.`,
    tag: 'moderation',
    access: { roles: READERS },
    query: z.object({
      from: Moment.meta({ examples: ['2026-09-05'] }).optional(),
      to: Moment.meta({ examples: ['2026-09-12T08:30:00Z'] }).optional(),
    }),
    replies: { 200: { description: 'The figures', body: Stats } },
    problems: ['moderator_required', 'invalid_request'],
  },
});
