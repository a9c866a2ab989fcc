import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { casesClosure, casesDisabling } from './closure.ts';
import { casesContract } from './contract.ts';
import { caseSections } from './export.ts';
import { type CasesDeps, casesHandlers } from './handlers.ts';
import { caseKind, caseNoteKind } from './publication-kinds.ts';

export const casesFeature: Feature<CasesDeps> = {
  routes: (deps) => [implement(casesContract, casesHandlers(deps))],
  closure: casesClosure,
  disabling: casesDisabling,
  exportSections: caseSections,
  publicationKinds: [caseKind, caseNoteKind],
};
