import * as passkeyEvents from '../../domain/passkeys/events.ts';
import { sweepChallenges } from '../../domain/passkeys/jobs.ts';
import { passkeysFeed } from '../../projections/passkeys/passkeys-feed.ts';
import type { Feature } from '../feature.ts';
import {
  passkeysClosure,
  passkeysDisabling,
  passkeysRecovery,
  passkeysSection,
} from './closure-and-export.ts';
import type { PasskeysDeps } from './handlers.ts';

export const passkeysFeature: Feature<PasskeysDeps> = {
  jobs: [sweepChallenges],
  events: passkeyEvents,
  feed: passkeysFeed,
  routes: () => import('./handlers.ts'),
  closure: passkeysClosure,
  disabling: passkeysDisabling,
  recovery: passkeysRecovery,
  exportSections: [passkeysSection],
};
