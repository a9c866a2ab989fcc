import * as moderationEvents from '../../services/moderation/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { moderators } from './moderators.ts';
import { policies } from './policies.ts';

export const moderationProjections: ProjectionFeature = {
  events: moderationEvents,
  readModels: [moderators, policies],
};
