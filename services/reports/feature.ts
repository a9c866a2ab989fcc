import * as reportEvents from '../../domain/reports/events.ts';
import { recordDecisions } from '../../projections/publications/record-decisions.ts';
import { recordReports } from '../../projections/publications/record-reports.ts';
import { reportsFeed } from '../../projections/reports/reports-feed.ts';
import type { Feature } from '../feature.ts';
import { reportsClosure, reportsSection } from './closure-and-export.ts';
import type { ReportsDeps } from './handlers.ts';

export const reportsFeature: Feature<ReportsDeps> = {
  events: reportEvents,
  readModels: ({ publicationKinds }) => [
    recordReports(publicationKinds),
    recordDecisions(publicationKinds),
  ],
  feed: reportsFeed,
  routes: () => import('./handlers.ts'),
  closure: reportsClosure,
  exportSections: [reportsSection],
};
