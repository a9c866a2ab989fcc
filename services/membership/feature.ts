import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { sessionsClosure, sessionsDisabling } from './closure.ts';
import { membershipContract } from './contract.ts';
import type { MembershipDeps } from './deps.ts';
import { sessionsSection } from './export.ts';
import { membershipHandlers } from './handlers.ts';

export const membershipFeature: Feature<MembershipDeps> = {
  routes: (deps) => [implement(membershipContract, membershipHandlers(deps))],
  closure: sessionsClosure,
  disabling: sessionsDisabling,
  exportSections: [sessionsSection],
};
