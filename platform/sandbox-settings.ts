import { z } from 'zod';

/** A time of day in UTC. */
export const TimeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day of the form HH:MM')
  .meta({ form: 'HH:MM' });

/** The settings of a sandbox (docs/operating/sandbox.md). */
export const sandboxSettings = {
  SANDBOX: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .meta({ form: 'true or false' })
    .default('false')
    .transform((text) => text === 'true')
    .describe(
      'Whether this is a sandbox for tests: it says so everywhere, has high limits on registrations, and a release empties its database each day. The database must have been empty at the first release with it.',
    ),
  SANDBOX_EMPTIED_AT: TimeOfDay.default('04:00').describe(
    'When a sandbox is emptied each day, in UTC.',
  ),
};

interface Given {
  LIMIT_REGISTRATIONS_PER_DAY: number;
  LIMIT_REGISTRATIONS_PER_HOUR: number;
  LIMIT_MEMBERS: number;
}

/** Lets many strangers try it from one address. */
export const inSandbox = (given: Given) => ({
  LIMIT_REGISTRATIONS_PER_DAY: Math.max(given.LIMIT_REGISTRATIONS_PER_DAY, 1000),
  LIMIT_REGISTRATIONS_PER_HOUR: Math.max(given.LIMIT_REGISTRATIONS_PER_HOUR, 10_000),
  LIMIT_MEMBERS: Math.max(given.LIMIT_MEMBERS, 100_000),
});
