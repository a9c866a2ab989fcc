import { implement } from '../../platform/http/route.ts';
import { activity } from '../../projections/activity/activity.ts';
import type { Feature } from '../feature.ts';
import { activityContract } from './contract.ts';
import { type ActivityDeps, activityHandlers } from './handlers.ts';

export const activityFeature: Feature<ActivityDeps> = {
  readModels: [activity],
  routes: (deps) => [implement(activityContract, activityHandlers(deps))],
};
