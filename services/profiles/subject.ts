import { authorsOf, profileRecords } from '../../projections/records.ts';
import { replay } from '../eventstore/decider.ts';
import { nobody, type Subject } from '../subject.ts';
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
