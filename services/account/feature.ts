import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { accountContract } from './contract.ts';
import { type AccountDeps, accountHandlers } from './handlers.ts';

export const accountFeature: Feature<AccountDeps> = {
  routes: (deps) => [implement(accountContract(deps.exportSections), accountHandlers(deps))],
};
