import * as membershipEvents from '../../domain/membership/events.ts';
import { expireSessions, sweepSessions } from '../../domain/membership/jobs.ts';
import { implement } from '../../platform/http/route.ts';
import { members } from '../../projections/membership/members.ts';
import { membershipFeed } from '../../projections/membership/membership-feed.ts';
import type { Feature } from '../feature.ts';
import { sessionsClosure, sessionsDisabling } from './closure.ts';
import { membershipContract } from './contract.ts';
import type { MembershipDeps } from './deps.ts';
import { sessionsSection } from './export.ts';
import { membershipHandlers } from './handlers.ts';

export const membershipFeature: Feature<MembershipDeps> = {
  jobs: [expireSessions, sweepSessions],
  events: membershipEvents,
  readModels: [members],
  feed: membershipFeed,
  routes: (deps) => [implement(membershipContract, membershipHandlers(deps))],
  closure: sessionsClosure,
  disabling: sessionsDisabling,
  exportSections: [sessionsSection],
};
