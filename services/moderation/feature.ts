import * as moderationEvents from '../../domain/moderation/events.ts';
import {
  expireLeases,
  keepFolds,
  queueAge,
  settleReports,
  tellRemoval,
} from '../../domain/moderation/jobs.ts';
import { decisionFigures } from '../../projections/moderation/decision-figures.ts';
import { moderationWeeks } from '../../projections/moderation/moderation-weeks.ts';
import { moderators } from '../../projections/moderation/moderators.ts';
import { policies } from '../../projections/moderation/policies.ts';
import type { Feature } from '../feature.ts';
import type { ModerationRoutesDeps } from './routes.ts';

export const moderationFeature: Feature<ModerationRoutesDeps> = {
  jobs: [expireLeases, keepFolds, queueAge, settleReports, tellRemoval],
  events: moderationEvents,
  // The figures read the models of everything that is decided on.
  readModels: ({ publicationKinds }) => [
    moderators,
    policies,
    decisionFigures(publicationKinds),
    moderationWeeks(publicationKinds),
  ],
  routes: () => import('./routes.ts'),
};
