import { sealLog } from '../../domain/seal/jobs.ts';
import type { Feature } from '../feature.ts';
import type { SealReadDeps } from './handlers.ts';

/** The sealed log: a signed Merkle tree over the events, public as hashes. */
export const sealFeature: Feature<SealReadDeps> = {
  jobs: [sealLog],
  routes: () => import('./handlers.ts'),
};
