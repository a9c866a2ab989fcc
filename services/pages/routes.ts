import { implement, type Routes } from '../../platform/http/route.ts';
import { pagesContract } from './contract.ts';
import { pagesHandlers } from './handlers.ts';
import { siteContract } from './site/contract.ts';
import { type SiteDeps, siteHandlers } from './site/handlers.ts';

export const routes = (deps: SiteDeps): readonly Routes[] => [
  implement(pagesContract, pagesHandlers(deps)),
  implement(siteContract, siteHandlers(deps)),
];
