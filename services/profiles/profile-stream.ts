import { memberOwner } from '../../domain/owners.ts';
import { profile } from '../../domain/profiles/profile.ts';
import { derive } from '../../platform/eventstore/load.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import { findProfile, type ProfileRow } from '../../projections/profiles/profiles.ts';

// A new publication notifies the author of the removal that it ends, on behalf of the moderator.
const profiles = defineStream('profile', profile, { ProfileRemovalTold: { type: 'moderator' } });

/** The stream of a member's profile. Its row has the state, since the stream may be long. */
export const profileStream = <Row extends ProfileRow>(memberId: string, row: Row | undefined) => ({
  row,
  ...profiles.at(
    memberOwner(memberId),
    memberId,
    row?.version ?? 0,
    row ? { status: row.state, version: row.version, told: row.removal_told } : profile.initial,
  ),
});

/** Loads a member's profile to decide on it. */
export const loadProfile = (memberId: string) =>
  derive(findProfile(memberId), ([row]) => profileStream(memberId, row));
