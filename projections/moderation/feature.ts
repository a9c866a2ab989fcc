import * as moderationEvents from '../../domain/moderation/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { decisionFigures } from './decision-figures.ts';
import { moderators } from './moderators.ts';
import { policies } from './policies.ts';

export const moderationProjections: ProjectionFeature = {
  events: moderationEvents,
  readModels: [moderators, policies],
};

/** Figures of decisions, which read the read models of all capabilities that are decided on. */
export const statisticsProjections: ProjectionFeature = { readModels: [decisionFigures] };
