import * as artifactEvents from '../../domain/artifacts/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { artifacts } from './artifacts.ts';
import { artifactsFeed } from './artifacts-feed.ts';

export const artifactsProjections: ProjectionFeature = {
  events: artifactEvents,
  readModels: [artifacts],
  feed: artifactsFeed,
};
