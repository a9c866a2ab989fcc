import * as events from '../../domain/profiles/events.ts';
import { profile } from '../../domain/profiles/profile.ts';
import { profileRecords } from '../../projections/profiles/profiles.ts';
import { defineRecordEvents } from '../../projections/publications/record-events.ts';
import { recordAuthors } from '../../projections/publications/records.ts';
import { noMembers, type PublicationKind } from '../publications/publication-kind.ts';

/** Profiles as a moderated kind. The id of a profile is its member's id. */
export const profileKind: PublicationKind = {
  type: 'profile',
  events: defineRecordEvents(events, {
    removed: 'ProfileRemoved',
    restored: 'ProfileRestored',
    notified: 'ProfileRemovalTold',
    withdrawn: 'ProfileWithdrawn',
    seen: ['ProfilePublished', 'ProfileWithdrawn'],
    idOf: ({ owner_id }) => owner_id,
  }),
  stream: (id) => `profile-${id}`,
  records: profileRecords,
  tables: ['profiles'],
  members: (id) => recordAuthors(profileRecords([id])),
  concerned: noMembers,
  decide: ({ status, version, told }, command) =>
    profile.decide({ status, version, told }, command),
};
