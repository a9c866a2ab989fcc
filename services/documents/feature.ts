import type { Feature } from '../feature.ts';
import type { DocumentsDeps } from './handlers.ts';

export const documentsFeature: Feature<DocumentsDeps> = {
  routes: () => import('./handlers.ts'),
};
