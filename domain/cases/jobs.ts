import { defineSweep } from '../../platform/jobs/job-type.ts';

export const lapseCaseClaims = defineSweep('lapse-case-claims', 30);
