import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { documentsContract } from './contract.ts';
import { type DocumentsDeps, documentsHandlers } from './handlers.ts';

export const documentsFeature: Feature<DocumentsDeps> = {
  routes: (deps) => [implement(documentsContract, documentsHandlers(deps))],
};
