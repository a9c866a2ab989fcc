import { eraseMember } from '../../domain/account/jobs.ts';
import type { Feature } from '../feature.ts';
import type { AccountDeps } from './handlers.ts';

export const accountFeature: Feature<AccountDeps> = {
  jobs: [eraseMember],
  routes: () => import('./handlers.ts'),
};
