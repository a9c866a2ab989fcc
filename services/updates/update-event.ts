import { z } from 'zod';
import { AnyUuid, Timestamp } from '../http/schemas.ts';
import type { UpdateType } from './kind.ts';

/** An entry of a member's feed. */
export const UpdateEvent = z
  .object({
    id: AnyUuid.meta({ description: 'Stable: what was delivered twice has the same id.' }),
    sequence: z.int().min(1).meta({ description: "The member's own, rising by one." }),
    type: z.string().meta({
      description: 'As the description of `GET /api/v1/updates` lists them.',
      examples: ['note.approved' satisfies UpdateType],
    }),
    occurred_at: Timestamp,
    subject: z.object({ type: z.string(), id: AnyUuid }),
    actor: z.object({
      type: z.enum(['member', 'moderator', 'service', 'guest']),
      id: AnyUuid.optional(),
    }),
    data: z.record(z.string(), z.unknown()).meta({
      description: '`expires_at` is Unix seconds; every other time is ISO 8601.',
    }),
  })
  .meta({ id: 'UpdateEvent' });
