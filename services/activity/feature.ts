import { activity } from '../../projections/activity/activity.ts';
import type { Feature } from '../feature.ts';
import type { ActivityDeps } from './handlers.ts';

export const activityFeature: Feature<ActivityDeps> = {
  readModels: ({ activityEntries }) => [activity(activityEntries)],
  routes: () => import('./handlers.ts'),
};
