import * as profileEvents from '../../domain/profiles/events.ts';
import { profiles } from '../../projections/profiles/profiles.ts';
import { profilesActivity, profilesFeed } from '../../projections/profiles/profiles-feed.ts';
import type { Feature } from '../feature.ts';
import { profileClosure, profileSection } from './closure-and-export.ts';
import type { ProfilesDeps } from './handlers.ts';
import { profileKind } from './publication-kind.ts';

export const profilesFeature: Feature<ProfilesDeps> = {
  events: profileEvents,
  readModels: [profiles],
  feed: profilesFeed,
  activity: profilesActivity,
  routes: () => import('./handlers.ts'),
  closure: profileClosure,
  exportSections: [profileSection],
  publicationKinds: [profileKind],
};
