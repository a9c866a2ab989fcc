import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { transparencyContract } from './contract.ts';
import { type TransparencyDeps, transparencyHandlers } from './handlers.ts';

/** What the public may know of the moderators' decisions. Its counts belong to the moderation. */
export const transparencyFeature: Feature<TransparencyDeps> = {
  routes: (deps) => [implement(transparencyContract, transparencyHandlers(deps))],
};
