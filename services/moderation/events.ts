import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { ROLES } from './staff/roles.ts';

export const ModeratorAdded = defineEvent('ModeratorAdded', {
  data: z.strictObject({ moderator_id: z.uuid(), role: z.enum(ROLES) }),
  personal: z.strictObject({ name: z.string() }),
});

/** The moderator's token and sessions have ended, and every lease is released. */
export const ModeratorRevoked = defineEvent('ModeratorRevoked', {
  data: z.strictObject({ moderator_id: z.uuid() }),
});

/** The old token and every session have ended, and every lease is released. */
export const ModeratorTokenRotated = defineEvent('ModeratorTokenRotated', {
  data: z.strictObject({ moderator_id: z.uuid() }),
});

export const ModeratorSignedIn = defineEvent('ModeratorSignedIn', {
  data: z.strictObject({ moderator_id: z.uuid(), session_id: z.uuid() }),
});

/** The reason is `replaced` if the same browser signed in again. */
export const ModeratorSignedOut = defineEvent('ModeratorSignedOut', {
  data: z.strictObject({
    moderator_id: z.uuid(),
    session_id: z.uuid(),
    reason: z.enum(['signed_out', 'replaced']),
  }),
});

/** A policy was added, reworded, deactivated or activated again. */
export const PolicyChanged = defineEvent('PolicyChanged', {
  data: z.strictObject({ code: z.string(), version: z.int().min(1), active: z.boolean() }),
  personal: z.strictObject({ title: z.string(), text: z.string() }),
});

/** A note has waited for more than a day. Recorded once, until `QueueCaughtUp` ends the alert. */
export const QueueOverdue = defineEvent('QueueOverdue', {
  data: z.strictObject({
    pending: z.int(),
    past_due: z.int(),
    oldest_submitted_at: z.iso.datetime(),
  }),
});

export const QueueCaughtUp = defineEvent('QueueCaughtUp', {
  data: z.strictObject({ pending: z.int() }),
});
