import * as artifactEvents from '../../domain/artifacts/events.ts';
import { artifacts } from '../../projections/artifacts/artifacts.ts';
import { artifactsActivity, artifactsFeed } from '../../projections/artifacts/artifacts-feed.ts';
import type { Feature } from '../feature.ts';
import { artifactsClosure, artifactsSection } from './closure-and-export.ts';
import type { ArtifactsDeps } from './handlers.ts';
import { artifactKind, provableArtifact } from './publication-kind.ts';

export const artifactsFeature: Feature<ArtifactsDeps> = {
  events: artifactEvents,
  readModels: [artifacts],
  feed: artifactsFeed,
  activity: artifactsActivity,
  routes: () => import('./handlers.ts'),
  closure: artifactsClosure,
  exportSections: [artifactsSection],
  publicationKinds: [artifactKind],
  provableRecords: [provableArtifact],
};
