import { findProfile, type ProfileRow } from '../../projections/profiles.ts';
import { exportSection } from '../export-section.ts';

export const profileSection = exportSection<ProfileRow>({
  name: 'profile',
  shape: 'one',
  after: findProfile,
  entry: ({ display_name, summary, links, capabilities, state, version, published_at }) => ({
    display_name,
    summary,
    links,
    capabilities,
    state,
    version,
    published_at: published_at.toISOString(),
  }),
});
