import * as caseEvents from '../../domain/cases/events.ts';
import { lapseCaseClaims } from '../../domain/cases/jobs.ts';
import { caseMembers } from '../../projections/cases/case-members.ts';
import { caseRecord } from '../../projections/cases/case-record.ts';
import { cases } from '../../projections/cases/cases.ts';
import { casesActivity, casesFeed } from '../../projections/cases/cases-feed.ts';
import type { Feature } from '../feature.ts';
import { caseSections, casesClosure, casesDisabling } from './closure-and-export.ts';
import type { CasesDeps } from './handlers.ts';
import { caseKind, caseNoteKind, provableCase } from './publication-kinds.ts';

export const casesFeature: Feature<CasesDeps> = {
  jobs: [lapseCaseClaims],
  events: caseEvents,
  readModels: [cases, caseMembers, caseRecord],
  feed: casesFeed,
  activity: casesActivity,
  routes: () => import('./handlers.ts'),
  closure: casesClosure,
  disabling: casesDisabling,
  exportSections: caseSections,
  publicationKinds: [caseKind, caseNoteKind],
  provableRecords: [provableCase],
};
