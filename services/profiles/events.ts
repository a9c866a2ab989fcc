import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';

/** Profile events carry no member id, because the member owns the stream. */
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

/** A moderator removed the profile; `message` is addressed to the author. */
export const ProfileRemoved = defineEvent('ProfileRemoved', {
  data: z.strictObject({ policy: z.string(), claimed_at: z.iso.datetime().nullable() }),
  personal: z.strictObject({ message: z.string().nullable() }),
});

/** The removal `of` can no longer be undone, so this event notifies the author. */
export const ProfileRemovalTold = defineEvent('ProfileRemovalTold', {
  data: z.strictObject({ of: z.uuid(), policy: z.string() }),
});

/**
 * The profile is public again. `undone`: the moderator who removed it or a lead undid the removal;
 * otherwise a second person restored it. `told`: the author had been notified of the removal.
 */
export const ProfileRestored = defineEvent('ProfileRestored', {
  data: z.strictObject({ of: z.uuid(), undone: z.boolean(), told: z.boolean() }),
});
