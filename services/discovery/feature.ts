import type { Feature } from '../feature.ts';
import type { DiscoveryDeps } from './handlers.ts';

export const discoveryFeature: Feature<DiscoveryDeps> = {
  routes: () => import('./handlers.ts'),
};
