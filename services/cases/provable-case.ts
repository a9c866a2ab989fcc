import { provableKind } from '../publications/provable-record.ts';
import { caseKind } from './publication-kinds.ts';

export const provableCase = provableKind(caseKind, {
  CaseOpened: [
    'data.case_id',
    'data.author_id',
    'data.artifact_id',
    'data.policy_version',
    'personal.title',
    'personal.summary',
    'personal.objective',
    'personal.acceptance_criteria',
  ],
});
