import { caseRecords, publicOwners } from '../../projections/publications/records.ts';
import type { ProvableRecord } from '../publications/provable-record.ts';
import { caseKind } from './publication-kinds.ts';

export const provableCase: ProvableRecord = {
  type: caseKind.type,
  owner: (id) => publicOwners(caseRecords([id])),
  stream: caseKind.stream,
  events: {
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
  },
};
