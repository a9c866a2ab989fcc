import * as membershipEvents from '../../domain/membership/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { members } from './members.ts';
import { membershipFeed } from './membership-feed.ts';

export const membershipProjections: ProjectionFeature = {
  events: membershipEvents,
  readModels: [members],
  feed: membershipFeed,
};
