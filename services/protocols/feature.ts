import type { Feature } from '../feature.ts';
import type { ProtocolsDeps } from './routes.ts';

export const protocolsFeature: Feature<ProtocolsDeps> = {
  routes: () => import('./routes.ts'),
};
