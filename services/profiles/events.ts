import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';

/** The stream's owner is the member, so no event names it once more. */
export const ProfilePublished = defineEvent('ProfilePublished', {
  data: z.strictObject({ policy_version: z.string() }),
  personal: z.strictObject({
    display_name: z.string(),
    summary: z.string(),
    links: z.array(z.string()),
    capabilities: z.array(z.string()),
  }),
});

export const ProfileWithdrawn = defineEvent('ProfileWithdrawn', {
  data: z.strictObject({ reason: z.enum(['author', 'deactivated']) }),
});

/** Taken down by a moderator; `message` is the word to the author. */
export const ProfileRemoved = defineEvent('ProfileRemoved', {
  data: z.strictObject({ policy: z.string(), claimed_at: z.iso.datetime().nullable() }),
  personal: z.strictObject({ message: z.string().nullable() }),
});

/** The removal `of` can no longer be undone: its author is told. */
export const ProfileRemovalTold = defineEvent('ProfileRemovalTold', {
  data: z.strictObject({ of: z.uuid(), policy: z.string() }),
});

/** `undone` by the remover or a lead, or restored by a second person. `told`: its author knew. */
export const ProfileRestored = defineEvent('ProfileRestored', {
  data: z.strictObject({ of: z.uuid(), undone: z.boolean(), told: z.boolean() }),
});
