import * as disablingEvents from '../../domain/disabling/events.ts';
import { implement } from '../../platform/http/route.ts';
import { disablingFeed } from '../../projections/disabling/disabling-feed.ts';
import { memberAppeals } from '../../projections/disabling/member-appeals.ts';
import { memberDecisions } from '../../projections/disabling/member-decisions.ts';
import type { Feature } from '../feature.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { disabledContract, disablingContract } from './contract.ts';
import { disablingSections } from './export.ts';
import { type DisablingHandlerDeps, disabledHandlers, disablingHandlers } from './handlers.ts';

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
  routes: (deps) => [
    implement(disabledContract, disabledHandlers(deps)),
    implement(disablingContract, disablingHandlers(deps)),
  ],
  closure: disablingClosure,
  exportSections: disablingSections,
};
