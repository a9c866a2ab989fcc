import type { Feature } from '../feature.ts';
import type { TransparencyDeps } from './handlers.ts';

/** What the public may know of the moderators' decisions. Its counts belong to the moderation. */
export const transparencyFeature: Feature<TransparencyDeps> = {
  routes: () => import('./handlers.ts'),
};
