import { TimeOfDay } from './sandbox-settings.ts';

/** When the read models are compared with the log (docs/operating/live-proof.md). */
export const provingSettings = {
  VERIFY_AT: TimeOfDay.optional().describe(
    'When a worker compares every read model with the log each day, in UTC: minutes of one core for a million events, and free disk for a second copy of the read models. Not done if it is not set.',
  ),
};
