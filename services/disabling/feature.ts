import * as disablingEvents from '../../domain/disabling/events.ts';
import { disablingFeed } from '../../projections/disabling/disabling-feed.ts';
import { memberAppeals } from '../../projections/disabling/member-appeals.ts';
import { memberDecisions } from '../../projections/disabling/member-decisions.ts';
import { defineAccountClosure } from '../account-closure.ts';
import type { Feature } from '../feature.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { disablingSections } from './export.ts';
import type { DisablingHandlerDeps } from './handlers.ts';

/** Ends the review of the member's appeal when the account is closed. */
const disablingClosure = defineAccountClosure({
  load: () => null,
  close: () => [],
  rows: (memberId) => [dropLeases('member', [memberId])],
});

export const disablingFeature: Feature<DisablingHandlerDeps> = {
  events: disablingEvents,
  readModels: [memberDecisions, memberAppeals],
  feed: disablingFeed,
  routes: () => import('./handlers.ts'),
  closure: disablingClosure,
  exportSections: disablingSections,
};
