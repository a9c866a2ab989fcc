import * as membershipEvents from '../../domain/membership/events.ts';
import { expireSessions, sweepSessions } from '../../domain/membership/jobs.ts';
import { members } from '../../projections/membership/members.ts';
import { membershipFeed } from '../../projections/membership/membership-feed.ts';
import type { Feature } from '../feature.ts';
import { sessionsClosure, sessionsDisabling } from './closure.ts';
import type { MembershipDeps } from './deps.ts';
import { sessionsSection } from './export.ts';

export const membershipFeature: Feature<MembershipDeps> = {
  jobs: [expireSessions, sweepSessions],
  events: membershipEvents,
  readModels: [members],
  feed: membershipFeed,
  routes: () => import('./handlers.ts'),
  closure: sessionsClosure,
  disabling: sessionsDisabling,
  exportSections: [sessionsSection],
};
