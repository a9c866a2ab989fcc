import * as membershipEvents from '../../domain/membership/events.ts';
import { expireSessions, sweepSessions } from '../../domain/membership/jobs.ts';
import { members } from '../../projections/membership/members.ts';
import { membershipFeed } from '../../projections/membership/membership-feed.ts';
import type { Feature } from '../feature.ts';
import {
  sessionsClosure,
  sessionsDisabling,
  sessionsRecovery,
  sessionsSection,
} from './closure-and-export.ts';
import type { MembershipDeps } from './deps.ts';

export const membershipFeature: Feature<MembershipDeps> = {
  jobs: [expireSessions, sweepSessions],
  events: membershipEvents,
  readModels: [members],
  feed: membershipFeed,
  routes: () => import('./handlers.ts'),
  closure: sessionsClosure,
  disabling: sessionsDisabling,
  recovery: sessionsRecovery,
  exportSections: [sessionsSection],
};
