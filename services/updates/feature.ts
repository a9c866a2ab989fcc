import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { updatesContract } from './contract.ts';
import { type UpdatesDeps, updatesHandlers } from './handlers.ts';

export const updatesFeature: Feature<UpdatesDeps> = {
  routes: (deps) => [implement(updatesContract, updatesHandlers(deps))],
};
