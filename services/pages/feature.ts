import type { Feature } from '../feature.ts';
import type { SiteDeps } from './site/handlers.ts';

export const pagesFeature: Feature<SiteDeps> = {
  routes: () => import('./handlers.ts'),
};
