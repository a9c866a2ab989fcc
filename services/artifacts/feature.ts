import * as artifactEvents from '../../domain/artifacts/events.ts';
import { implement } from '../../platform/http/route.ts';
import { artifacts } from '../../projections/artifacts/artifacts.ts';
import { artifactsFeed } from '../../projections/artifacts/artifacts-feed.ts';
import type { Feature } from '../feature.ts';
import { artifactsClosure } from './closure.ts';
import { artifactsContract } from './contract.ts';
import { artifactsSection } from './export.ts';
import { type ArtifactsDeps, artifactsHandlers } from './handlers.ts';
import { artifactKind } from './publication-kind.ts';

export const artifactsFeature: Feature<ArtifactsDeps> = {
  events: artifactEvents,
  readModels: [artifacts],
  feed: artifactsFeed,
  routes: (deps) => [implement(artifactsContract, artifactsHandlers(deps))],
  closure: artifactsClosure,
  exportSections: [artifactsSection],
  publicationKinds: [artifactKind],
};
