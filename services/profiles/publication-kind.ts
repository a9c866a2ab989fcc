import { replay } from '../../platform/eventstore/decider.ts';
import { authorsOf, profileRecords } from '../../projections/publications/records.ts';
import { nobody, type Subject } from '../publications/publication-kind.ts';
import { profile } from './profile.ts';

/** A profile's id is its member's. */
export const profileSubject: Subject = {
  type: 'profile',
  stream: (id) => `profile-${id}`,
  records: profileRecords,
  members: (id) => authorsOf(profileRecords([id])),
  concerned: nobody,
  decide: (facts, command) => profile.decide(replay(profile, facts), command),
};
