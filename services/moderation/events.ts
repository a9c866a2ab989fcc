import { z } from 'zod';
import { defineEvent } from '../eventstore/event.ts';
import { ROLES } from './roles.ts';

export const ModeratorAdded = defineEvent('ModeratorAdded', {
  data: z.strictObject({ moderator_id: z.uuid(), role: z.enum(ROLES) }),
  personal: z.strictObject({ name: z.string() }),
});

/** The token proves nothing any more and every lease is released. */
export const ModeratorRevoked = defineEvent('ModeratorRevoked', {
  data: z.strictObject({ moderator_id: z.uuid() }),
});
