import * as profileEvents from '../../domain/profiles/events.ts';
import { implement } from '../../platform/http/route.ts';
import { profiles } from '../../projections/profiles/profiles.ts';
import { profilesFeed } from '../../projections/profiles/profiles-feed.ts';
import type { Feature } from '../feature.ts';
import { profileClosure } from './closure.ts';
import { profilesContract } from './contract.ts';
import { profileSection } from './export.ts';
import { type ProfilesDeps, profilesHandlers } from './handlers.ts';
import { profileKind } from './publication-kind.ts';

export const profilesFeature: Feature<ProfilesDeps> = {
  events: profileEvents,
  readModels: [profiles],
  feed: profilesFeed,
  routes: (deps) => [implement(profilesContract, profilesHandlers(deps))],
  closure: profileClosure,
  exportSections: [profileSection],
  publicationKinds: [profileKind],
};
