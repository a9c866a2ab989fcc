import { type OwnProfileRow, ownProfile } from '../../projections/profiles.ts';
import { exportSection } from '../export-section.ts';

export const profileSection = exportSection<OwnProfileRow>({
  name: 'profile',
  shape: 'one',
  after: (memberId, _last, _limit, undoSeconds) => ownProfile(memberId, undoSeconds),
  entry: ({ published_at, ...profile }) => ({
    ...profile,
    published_at: published_at.toISOString(),
  }),
});
