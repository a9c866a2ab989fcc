import * as profileEvents from '../../domain/profiles/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { profiles } from './profiles.ts';
import { profilesFeed } from './profiles-feed.ts';

export const profilesProjections: ProjectionFeature = {
  events: profileEvents,
  readModels: [profiles],
  feed: profilesFeed,
};
