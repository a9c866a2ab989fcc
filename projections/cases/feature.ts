import * as caseEvents from '../../domain/cases/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { caseMembers } from './case-members.ts';
import { caseRecord } from './case-record.ts';
import { cases } from './cases.ts';
import { casesFeed } from './cases-feed.ts';

export const casesProjections: ProjectionFeature = {
  events: caseEvents,
  readModels: [cases, caseMembers, caseRecord],
  feed: casesFeed,
};
