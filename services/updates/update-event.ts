import { z } from 'zod';
import { UPDATE_TYPES, type UpdateType } from '../../domain/updates/update-type.ts';
import { AnyUuid, Timestamp } from '../../platform/http/schemas.ts';

/** Who caused an event, as shown to readers. */
export const Actor = z
  .object({
    type: z.enum(['member', 'moderator', 'service', 'guest']),
    id: AnyUuid.optional(),
  })
  .meta({ id: 'Actor' });

/** The schema's name of an update type: `case.lease_ended` becomes `CaseLeaseEndedEvent`. */
const nameOf = (type: UpdateType): string =>
  `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

function eventOf(type: UpdateType) {
  const { subjects, data } = UPDATE_TYPES[type];
  return z
    .object({
      id: AnyUuid.meta({ description: 'Stable: a repeated delivery has the same id.' }),
      sequence: z.int().min(1).meta({ description: "The member's own, rising by one." }),
      type: z.literal(type),
      occurred_at: Timestamp,
      subject: z.object({ type: z.enum(subjects), id: AnyUuid }),
      actor: Actor,
      data: z.object(data),
    })
    .meta({ id: nameOf(type) });
}

const [first, ...others] = (Object.keys(UPDATE_TYPES) as UpdateType[]).map(eventOf);
if (!first) throw new Error('there are no types of updates');

/** An entry in a member's feed. */
export const UpdateEvent = z.discriminatedUnion('type', [first, ...others]).meta({
  id: 'UpdateEvent',
  description:
    'An entry of a feed, by its `type`. Ignore a type that you do not know: a later release may ' +
    'add types. `expires_at` is Unix seconds; every other time is ISO 8601.',
});
