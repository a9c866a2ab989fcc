import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { discoveryContract } from './contract.ts';
import { type DiscoveryDeps, discoveryHandlers } from './handlers.ts';

export const discoveryFeature: Feature<DiscoveryDeps> = {
  routes: (deps) => [implement(discoveryContract, discoveryHandlers(deps))],
};
