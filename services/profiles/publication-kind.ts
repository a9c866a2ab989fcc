import { replay } from '../../platform/eventstore/decider.ts';
import { authorsOf, profileRecords } from '../../projections/publications/records.ts';
import { nobody, type Subject } from '../publications/publication-kind.ts';
import { profile } from './profile.ts';

/** Profiles as a moderated kind. The id of a profile is its member's id. */
export const profileSubject: Subject = {
  type: 'profile',
  stream: (id) => `profile-${id}`,
  records: profileRecords,
  members: (id) => authorsOf(profileRecords([id])),
  concerned: nobody,
  decide: (facts, command) => profile.decide(replay(profile, facts), command),
};
