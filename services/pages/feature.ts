import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { pagesContract } from './contract.ts';
import { pagesHandlers } from './handlers.ts';

export const pagesFeature: Feature<unknown> = {
  routes: () => [implement(pagesContract, pagesHandlers())],
};
