import * as passkeyEvents from '../../domain/passkeys/events.ts';
import { sweepChallenges } from '../../domain/passkeys/jobs.ts';
import { implement } from '../../platform/http/route.ts';
import { passkeysFeed } from '../../projections/passkeys/passkeys-feed.ts';
import type { Feature } from '../feature.ts';
import { passkeysClosure, passkeysDisabling } from './closure.ts';
import { passkeysContract } from './contract.ts';
import { passkeysSection } from './export.ts';
import { type PasskeysDeps, passkeysHandlers } from './handlers.ts';

export const passkeysFeature: Feature<PasskeysDeps> = {
  jobs: [sweepChallenges],
  events: passkeyEvents,
  feed: passkeysFeed,
  routes: (deps) => [implement(passkeysContract, passkeysHandlers(deps))],
  closure: passkeysClosure,
  disabling: passkeysDisabling,
  exportSections: [passkeysSection],
};
