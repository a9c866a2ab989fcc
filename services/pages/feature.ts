import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { pagesContract } from './contract.ts';
import { pagesHandlers } from './handlers.ts';
import { siteContract } from './site/contract.ts';
import { type SiteDeps, siteHandlers } from './site/handlers.ts';

export const pagesFeature: Feature<SiteDeps> = {
  routes: (deps) => [
    implement(pagesContract, pagesHandlers()),
    implement(siteContract, siteHandlers(deps)),
  ],
};
