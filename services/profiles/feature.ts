import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { profileClosure } from './closure.ts';
import { profilesContract } from './contract.ts';
import { profileSection } from './export.ts';
import { type ProfilesDeps, profilesHandlers } from './handlers.ts';
import { profileKind } from './publication-kind.ts';

export const profilesFeature: Feature<ProfilesDeps> = {
  routes: (deps) => [implement(profilesContract, profilesHandlers(deps))],
  closure: profileClosure,
  exportSections: [profileSection],
  publicationKinds: [profileKind],
};
