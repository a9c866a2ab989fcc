import * as reportEvents from '../../domain/reports/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { reportsFeed } from './reports-feed.ts';

export const reportsProjections: ProjectionFeature = {
  events: reportEvents,
  feed: reportsFeed,
};
