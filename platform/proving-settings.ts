import { z } from 'zod';
import { TIME_OF_DAY } from './sandbox-settings.ts';

/** When the read models are compared with the log (docs/operating/live-proof.md). */
export const provingSettings = {
  VERIFY_AT: z
    .string()
    .regex(TIME_OF_DAY, 'must be a time of day of the form HH:MM')
    .meta({ form: 'HH:MM' })
    .optional()
    .describe(
      'When a worker compares every read model with the log each day, in UTC: minutes of one core for a million events, and free disk for a second copy of the read models. Not done if it is not set.',
    ),
};
