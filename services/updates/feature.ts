import type { Feature } from '../feature.ts';
import type { UpdatesDeps } from './handlers.ts';

export const updatesFeature: Feature<UpdatesDeps> = {
  routes: () => import('./handlers.ts'),
};
