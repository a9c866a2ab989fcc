import * as profiles from '../../domain/profiles/events.ts';
import { addEntry, defineActivity, hideEntries, takeDownEntries } from '../activity-entry.ts';
import { defineFeedEntries } from '../feed-entry.ts';

const subject = (id: string) => ({ type: 'profile', id });

/**
 * Members are notified of a removal once it can no longer be undone, and of a restoration only if
 * they were notified of the removal.
 */
export const profilesFeed = defineFeedEntries(profiles, {
  ProfilePublished: ({ owner_id, stream_version }) => ({
    member: owner_id,
    type: 'profile.published',
    subject: subject(owner_id),
    data: { version: stream_version },
  }),
  ProfileWithdrawn: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'profile.withdrawn',
    subject: subject(owner_id),
    data: { reason: data.reason },
  }),
  ProfileRemovalTold: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'profile.removed',
    subject: subject(owner_id),
    data: { policy: data.policy },
  }),
  ProfileRestored: ({ owner_id, stream_version, data }) =>
    data.told
      ? {
          member: owner_id,
          type: 'profile.published',
          subject: subject(owner_id),
          data: { version: stream_version, restored: true },
          actor: { type: 'moderator' },
        }
      : [],
});

export const profilesActivity = defineActivity(profiles, {
  ProfilePublished: (event) => [
    hideEntries('profile', event.owner_id),
    addEntry(event, 'profile.published', event.owner_id),
  ],
  ProfileRemoved: ({ owner_id }) => takeDownEntries('profile', owner_id, true),
  ProfileRestored: ({ owner_id }) => takeDownEntries('profile', owner_id, false),
  ProfileWithdrawn: ({ owner_id }) => hideEntries('profile', owner_id),
});
