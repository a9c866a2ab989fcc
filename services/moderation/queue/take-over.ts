import { z } from 'zod';

/** Set by a lead who takes over an item that another moderator has claimed. */
export const TakeOver = z
  .boolean()
  .optional()
  .describe(
    'Only for leads: end the claim of another moderator, who is notified. The audit has it',
  );
