import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { disabledContract, disablingContract } from './contract.ts';
import { disablingSections } from './export.ts';
import { type DisablingHandlerDeps, disabledHandlers, disablingHandlers } from './handlers.ts';

export const disablingFeature: Feature<DisablingHandlerDeps> = {
  routes: (deps) => [
    implement(disabledContract, disabledHandlers(deps)),
    implement(disablingContract, disablingHandlers(deps)),
  ],
  exportSections: disablingSections,
};
