import type { ProjectionFeature } from '../feature.ts';
import { recordDecisions } from './record-decisions.ts';
import { recordReports } from './record-reports.ts';

export const publicationsProjections: ProjectionFeature = {
  readModels: [recordReports, recordDecisions],
};
