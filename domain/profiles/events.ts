import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';

export const ProfilePublished = defineEvent('ProfilePublished', {
  summary:
    'The member published a profile or a new version of it. The stream’s owner is the member.',

  data: z.strictObject({ policy_version: z.string() }),
  personal: z.strictObject({
    display_name: z.string(),
    summary: z.string(),
    links: z.array(z.string()),
    capabilities: z.array(z.string()),
  }),
});

export const ProfileWithdrawn = defineEvent('ProfileWithdrawn', {
  summary: 'The member withdrew the profile or closed the account.',

  data: z.strictObject({ reason: z.enum(['author', 'deactivated']) }),
});

export const ProfileRemoved = defineEvent('ProfileRemoved', {
  summary: 'A moderator removed the profile. `message` is addressed to the author.',

  data: z.strictObject({ policy: z.string(), claimed_at: z.iso.datetime().nullable() }),
  personal: z.strictObject({ message: z.string().nullable() }),
});

export const ProfileRemovalTold = defineEvent('ProfileRemovalTold', {
  summary: 'The removal `of` can no longer be undone; this event notifies the author.',

  data: z.strictObject({ of: z.uuid(), policy: z.string() }),
});

export const ProfileRestored = defineEvent('ProfileRestored', {
  summary:
    'The profile is public again. `undone`: the moderator who removed it or a lead undid the removal; otherwise a second person restored it. `told`: the author had been notified of the removal.',

  data: z.strictObject({ of: z.uuid(), undone: z.boolean(), told: z.boolean() }),
});
