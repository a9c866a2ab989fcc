import type { ProjectionFeature } from '../feature.ts';
import { activity } from './activity.ts';

export const activityProjections: ProjectionFeature = {
  readModels: [activity],
};
