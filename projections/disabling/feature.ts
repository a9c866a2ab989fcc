import * as disablingEvents from '../../domain/disabling/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { disablingFeed } from './disabling-feed.ts';
import { memberAppeals } from './member-appeals.ts';
import { memberDecisions } from './member-decisions.ts';

export const disablingProjections: ProjectionFeature = {
  events: disablingEvents,
  readModels: [memberDecisions, memberAppeals],
  feed: disablingFeed,
};
