import { splitWords } from '../../domain/search/jobs.ts';
import type { Feature } from '../feature.ts';
import type { SearchDeps } from './handlers.ts';

export const searchFeature: Feature<SearchDeps> = {
  jobs: [splitWords],
  routes: () => import('./handlers.ts'),
};
