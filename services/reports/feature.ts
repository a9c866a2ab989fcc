import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { reportsClosure } from './closure.ts';
import { reportsContract } from './contract.ts';
import { reportsSection } from './export.ts';
import { type ReportsDeps, reportsHandlers } from './handlers.ts';

export const reportsFeature: Feature<ReportsDeps> = {
  routes: (deps) => [implement(reportsContract, reportsHandlers(deps))],
  closure: reportsClosure,
  exportSections: [reportsSection],
};
