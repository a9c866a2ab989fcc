import { splitWords } from '../../domain/search/jobs.ts';
import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { searchContract } from './contract.ts';
import { type SearchDeps, searchHandlers } from './handlers.ts';

export const searchFeature: Feature<SearchDeps> = {
  jobs: [splitWords],
  routes: (deps) => [implement(searchContract, searchHandlers(deps))],
};
