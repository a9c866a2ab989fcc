import { eraseMember } from '../../domain/account/jobs.ts';
import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { accountContract } from './contract.ts';
import { type AccountDeps, accountHandlers } from './handlers.ts';

export const accountFeature: Feature<AccountDeps> = {
  jobs: [eraseMember],
  routes: (deps) => [implement(accountContract(deps.exportSections), accountHandlers(deps))],
};
