import * as reportEvents from '../../services/reports/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { reportsFeed } from './reports-feed.ts';

export const reportsProjections: ProjectionFeature = {
  events: reportEvents,
  feed: reportsFeed,
};
